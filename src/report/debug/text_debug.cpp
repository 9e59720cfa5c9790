#include "report/debug/text_debug.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {
namespace {

constexpr size_t kMostShown = 65536;  // bytes of a stream

std::string subject_part(const results::DebugIteration& iteration) {
  return iteration.subject.empty() ? "" : " | " + iteration.subject;
}

std::string python_list(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(python_string(name));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string indented(std::string_view lines) {
  return "    " + indent_continuation(lines.substr(0, lines.size() - 1), 4) + "\n";
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
  const size_t count = loop.iterations.size(), judged = count - loop.unresolved_count;
  const double rate = judged == 0 ? 0 : 100.0 * static_cast<double>(loop.passed_count) / static_cast<double>(judged);
  return fmt::format("Finished {} iteration(s) | Passed: {}/{} | Pass Rate: {:.1f}%{}", count, loop.passed_count,
                     judged, rate,
                     loop.unresolved_count == 0 ? "" : fmt::format(" | Not judged: {}", loop.unresolved_count));
}

std::vector<std::string> reduce_lines(const results::ReduceReport& report) {
  if (!report.is_reproduced) return {};
  std::vector<std::string> lines;
  if (!report.symptom.empty()) lines.push_back("The whole model fails: " + report.symptom);
  for (const std::string& node : report.opened) {
    lines.push_back(fmt::format("`{}` was replaced by the nodes in it", printable(node)));
  }
  lines.push_back(fmt::format("Reduced: {} of {} node(s) | Inputs: {} | Outputs: {}{}", report.nodes.size(),
                              report.node_count, python_list(report.inputs), python_list(report.outputs),
                              report.is_confirmed ? " | failed once more" : ""));
  constexpr size_t kMostListed = 20;
  for (size_t i = 0; i < std::min(report.nodes.size(), kMostListed); ++i) {
    lines.push_back(fmt::format("    {} ({})", printable(report.nodes[i].name), printable(report.nodes[i].op)));
  }
  if (report.nodes.size() > kMostListed)
    lines.push_back(fmt::format("    and {} more", report.nodes.size() - kMostListed));
  if (!report.shrunk.empty()) lines.push_back("Shrunk: " + join(report.shrunk, ", "));
  if (!report.anonymized.empty()) lines.push_back("Replaced: " + join(report.anonymized, ", "));
  if (report.loop.unresolved_count > 0) {
    lines.push_back(fmt::format("{} model(s) on the way could not be judged", report.loop.unresolved_count));
  }
  if (report.good_node_count) lines.push_back(fmt::format("The good model has {} node(s)", *report.good_node_count));
  return lines;
}

std::string reproducer_text(const results::ReduceReport& report, std::string_view words, std::string_view command,
                            std::string_view versions) {
  std::string text = fmt::format("# A failure in {} node(s)\n\n", report.nodes.size());
  if (!report.symptom.empty()) text += fmt::format("The model that it was taken from fails: {}\n\n", report.symptom);
  for (const results::ReducedNode& node : report.nodes) {
    text += fmt::format("- {} ({})\n", printable(node.name), printable(node.op));
  }
  if (!words.empty()) text += fmt::format("\nTo see it:\n\n    {}\n", words);
  return text + fmt::format("\nFound by:\n\n    {}\n\nWith:\n\n{}", printable(command), indented(versions));
}

}  // namespace assay::report
