#include "report/text_debug.h"

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {
namespace {

constexpr size_t kMostShown = 65536;  // bytes of a stream

std::string subject_part(const results::DebugIteration& iteration) {
  return iteration.subject.empty() ? "" : " | " + iteration.subject;
}

}  // namespace

std::string iteration_begin_line(const results::DebugIteration& iteration, std::optional<uint64_t> remaining) {
  return fmt::format("RUNNING | Iteration {}{}{}", iteration.index + 1, subject_part(iteration),
                     remaining ? fmt::format(" | Approximately {} iteration(s) remaining", *remaining) : "");
}

std::string iteration_end_line(const results::DebugIteration& iteration) {
  return fmt::format("{} | Iteration {}{} | Duration {:.3f}s", iteration.passed ? "PASSED" : "FAILED",
                     iteration.index + 1, subject_part(iteration), iteration.seconds);
}

std::vector<std::string> iteration_doubts(const results::DebugIteration& iteration,
                                          const results::CheckOutput& output) {
  std::vector<std::string> lines;
  const uint64_t number = iteration.index + 1;
  if (!iteration.fault.empty())
    lines.push_back(fmt::format("Iteration {} cannot be checked: {}", number, iteration.fault));
  if (iteration.is_late) lines.push_back(fmt::format("Iteration {}: the check took too long and was ended", number));
  if (iteration.is_flaky) {
    lines.push_back(
        fmt::format("Iteration {}: the check does not always give the same verdict; it counts as failed", number));
  }
  if (output.is_cut) lines.push_back(fmt::format("Iteration {}: the check wrote too much; not all was kept", number));
  return lines;
}

std::string captured_text(std::string_view stream, std::string_view text) {
  std::string shown(text);
  if (text.size() > kMostShown) {
    shown = fmt::format("{}\n[{} bytes left out]\n{}", text.substr(0, kMostShown / 2), text.size() - kMostShown,
                        text.substr(text.size() - kMostShown / 2));
  }
  return fmt::format("========== CAPTURED {} ==========\n{}", stream, shown);
}

std::string loop_summary(const results::DebugLoop& loop) {
  const size_t count = loop.iterations.size();
  const double rate = count == 0 ? 0 : 100.0 * static_cast<double>(loop.passed_count) / static_cast<double>(count);
  return fmt::format("Finished {0} iteration(s) | Passed: {1}/{0} | Pass Rate: {2}%", count, loop.passed_count,
                     python_float(rate));
}

}  // namespace assay::report
