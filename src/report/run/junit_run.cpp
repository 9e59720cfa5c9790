#include "report/run/junit_run.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/run/text_generation.h"
#include "report/run/text_judgement.h"
#include "report/run/text_stats.h"

namespace assay::report {
namespace {

constexpr std::string_view kTimeOfDay = "-00/00/00-00:00:00";

// `onnxrt-runner-N0` of `onnxrt-runner-N0-11/21/26-07:40:57`.
std::string without_time(const std::string& runner) {
  if (runner.size() <= kTimeOfDay.size()) return runner;
  const size_t begin = runner.size() - kTimeOfDay.size();
  for (size_t i = 0; i < kTimeOfDay.size(); ++i) {
    const char c = runner[begin + i];
    const bool fits = kTimeOfDay[i] == '0' ? c >= '0' && c <= '9' : c == kTimeOfDay[i];
    if (!fits) return runner;
  }
  return runner.substr(0, begin);
}

std::string failure_line(const results::OutputComparison& output) {
  if (output.fault == "shapes") {
    return fmt::format("shapes differ: {} and {}", tuple_text(output.shape_a), tuple_text(output.shape_b));
  }
  if (output.fault == "undecided") return "no tolerance can be computed: " + output.tolerance_reason;
  if (!output.fault.empty()) return fmt::format("one side has {}, the other {}", output.dtype_a, output.dtype_b);
  std::string line;
  for (const results::Judgement& judgement : output.judgements) {
    if (!judgement.passed) line += (line.empty() ? "" : "; ") + judgement_line(judgement);
  }
  if (!output.metrics) return line;
  const results::PairMetrics& metrics = *output.metrics;
  return line + fmt::format(" | max abs {:.5g}, max rel {:.5g}, {} of {} elements beyond both",
                            metrics.absolute.greatest, metrics.relative.greatest, metrics.failed_count, metrics.count);
}

class SuiteMaker {
 public:
  explicit SuiteMaker(const results::RunReport& report) : report_(report) {
    suite_.name = report.model.empty() ? "saved outputs" : report.model;
    std::map<std::string, size_t> used;
    const auto add = [&](const std::string& runner) {
      if (names_.contains(runner)) return;
      std::string name = without_time(runner);
      const size_t before = used[name]++;
      names_[runner] = before == 0 ? name : fmt::format("{} ({})", name, before + 1);
    };
    for (const results::RunnerRun& run : report.runs) add(run.runner);
    for (const results::PairComparison& pair : report.pairs) {
      add(pair.runner_a);
      add(pair.runner_b);
    }
    for (const results::ValidatedOutput& output : report.validated) add(output.runner);
  }

  JunitSuite suite() {
    for (const results::RunnerRun& run : report_.runs) {
      const JunitOutcome outcome = run.failure.empty() ? JunitOutcome::passed : JunitOutcome::error;
      suite_.cases.push_back({"runs", names_.at(run.runner), run.load_seconds + run.run_seconds, outcome, run.failure});
    }
    for (const results::PairComparison& pair : report_.pairs) add_pair(pair);
    if (report_.generation && report_.runs.size() > 1) add_generation(*report_.generation);
    for (const results::PairAverages& averages : report_.averages) add_averages(averages);
    for (const results::ValidatedOutput& output : report_.validated) add_validated(output);
    return std::move(suite_);
  }

 private:
  std::string pair_name(const std::string& runner_a, const std::string& runner_b) const {
    return fmt::format("{} vs. {}", names_.contains(runner_a) ? names_.at(runner_a) : without_time(runner_a),
                       names_.contains(runner_b) ? names_.at(runner_b) : without_time(runner_b));
  }

  // The outcome of a difference: if averages are judged, single outputs are not.
  JunitOutcome difference() const { return report_.averages.empty() ? JunitOutcome::failure : JunitOutcome::skipped; }

  void add_pair(const results::PairComparison& pair) {
    const std::string group = pair_name(pair.runner_a, pair.runner_b);
    const size_t first = suite_.cases.size();
    for (const results::IterationComparison& iteration : pair.iterations) add_iteration(group, iteration, pair);
    if (pair.iterations_a != pair.iterations_b) {
      suite_.cases.push_back({group, "iterations", 0, pair.stopped ? JunitOutcome::skipped : difference(),
                              fmt::format("{} and {}", pair.iterations_a, pair.iterations_b)});
    }
    const bool has_failed = std::any_of(suite_.cases.begin() + static_cast<std::ptrdiff_t>(first), suite_.cases.end(),
                                        [](const JunitCase& c) { return c.outcome == JunitOutcome::failure; });
    if (suite_.cases.size() == first || (pair.verdict == results::Verdict::undecided && !has_failed)) {
      suite_.cases.push_back({group, "comparison", 0, JunitOutcome::skipped, "nothing could be compared"});
    }
  }

  void add_iteration(const std::string& group, const results::IterationComparison& iteration,
                     const results::PairComparison& pair) {
    const std::string suffix = pair.iterations.size() > 1 ? fmt::format(" [iteration {}]", iteration.index) : "";
    for (const results::OutputComparison& output : iteration.outputs) {
      const JunitOutcome failure = output.fault == "undecided" ? JunitOutcome::skipped : difference();
      suite_.cases.push_back({group, output.name_a + suffix, output.seconds,
                              output.passed ? JunitOutcome::passed : failure,
                              output.passed ? "" : failure_line(output)});
    }
    for (const std::string& name : iteration.missing) {
      suite_.cases.push_back({group, name + suffix, 0, difference(), "missing in " + pair.runner_b});
    }
    for (const std::string& name : iteration.extra) {
      suite_.cases.push_back({group, name + suffix, 0, difference(), "not in " + pair.runner_a});
    }
  }

  void add_generation(const results::Generation& generation) {
    const bool is_same = !generation.first_divergence;
    suite_.cases.push_back({"generation", "tokens", report_.compare_seconds,
                            is_same ? JunitOutcome::passed : JunitOutcome::failure,
                            is_same ? "" : generation_line(report_)});
  }

  void add_averages(const results::PairAverages& averages) {
    const std::string group = "average of " + pair_name(averages.runner_a, averages.runner_b);
    for (const results::AveragedOutput& output : averages.outputs) {
      std::string line;
      for (const results::Judgement& judgement : output.judgements) {
        if (!judgement.passed) line += (line.empty() ? "" : "; ") + judgement_line(judgement);
      }
      suite_.cases.push_back(
          {group, output.name, 0, output.passed ? JunitOutcome::passed : JunitOutcome::failure, line});
    }
  }

  void add_validated(const results::ValidatedOutput& output) {
    const bool is_valid = output.nan_count + output.inf_count == 0;
    suite_.cases.push_back(
        {"output validation",
         fmt::format("{}: {} [iteration {}]", names_.at(output.runner), output.name, output.iteration), output.seconds,
         is_valid ? JunitOutcome::passed : JunitOutcome::failure,
         is_valid ? "" : fmt::format("{} NaN, {} infinite", output.nan_count, output.inf_count)});
  }

  const results::RunReport& report_;
  JunitSuite suite_;
  std::map<std::string, std::string> names_;  // of runners
};

}  // namespace

JunitSuite junit_suite(const results::RunReport& report) { return SuiteMaker(report).suite(); }

}  // namespace assay::report
