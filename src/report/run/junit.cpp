#include "report/run/junit.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/html/markup.h"
#include "report/run/text_judgement.h"
#include "report/run/text_stats.h"

namespace assay::report {
namespace {

enum class Outcome : uint8_t { passed, failure, error, skipped };

struct Counts {
  uint64_t tests = 0;
  uint64_t failures = 0;
  uint64_t errors = 0;
  uint64_t skipped = 0;

  void add(Outcome outcome) {
    ++tests;
    failures += outcome == Outcome::failure ? 1 : 0;
    errors += outcome == Outcome::error ? 1 : 0;
    skipped += outcome == Outcome::skipped ? 1 : 0;
  }

  void add(const Counts& counts) {
    tests += counts.tests;
    failures += counts.failures;
    errors += counts.errors;
    skipped += counts.skipped;
  }

  std::string attributes() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests, failures, errors, skipped);
  }
};

class Suite {
 public:
  Suite(std::string name, double seconds) : name_(std::move(name)), seconds_(seconds) {}

  // `message`: one line about anything but `passed`.
  void add(std::string_view name, Outcome outcome, std::string_view message = {}) {
    counts_.add(outcome);
    cases_ += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\"", escaped(name_), escaped(name));
    if (outcome == Outcome::passed) {
      cases_ += "/>\n";
      return;
    }
    const std::string_view element = outcome == Outcome::failure ? "failure"
                                     : outcome == Outcome::error ? "error"
                                                                 : "skipped";
    cases_ += fmt::format(">\n      <{} message=\"{}\"/>\n    </testcase>\n", element, escaped(message));
  }

  const Counts& counts() const { return counts_; }
  double seconds() const { return seconds_; }
  std::string text() const {
    return fmt::format("  <testsuite name=\"{}\" {} time=\"{:.6f}\">\n{}  </testsuite>\n", escaped(name_),
                       counts_.attributes(), seconds_, cases_);
  }

 private:
  std::string name_;
  double seconds_;
  Counts counts_;
  std::string cases_;
};

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

// How what differs counts: where averages are judged, single outputs are not.
Outcome outcome_of_difference(const results::RunReport& report) {
  return report.averages.empty() ? Outcome::failure : Outcome::skipped;
}

struct PairCases {
  const results::PairComparison& pair;
  Outcome difference;
};

void add_iteration(Suite& suite, const results::IterationComparison& iteration, const PairCases& cases) {
  const results::PairComparison& pair = cases.pair;
  const std::string suffix = pair.iterations.size() > 1 ? fmt::format(" [iteration {}]", iteration.index) : "";
  for (const results::OutputComparison& output : iteration.outputs) {
    const Outcome failure = output.fault == "undecided" ? Outcome::skipped : cases.difference;
    suite.add(output.name_a + suffix, output.passed ? Outcome::passed : failure,
              output.passed ? "" : failure_line(output));
  }
  for (const std::string& name : iteration.missing) {
    suite.add(name + suffix, cases.difference, "missing in " + pair.runner_b);
  }
  for (const std::string& name : iteration.extra) {
    suite.add(name + suffix, cases.difference, "not in " + pair.runner_a);
  }
}

Suite suite_of(const PairCases& cases, double seconds) {
  const results::PairComparison& pair = cases.pair;
  Suite suite(pair.runner_a + " vs. " + pair.runner_b, seconds);
  for (const results::IterationComparison& iteration : pair.iterations) add_iteration(suite, iteration, cases);
  if (pair.iterations_a != pair.iterations_b) {
    suite.add("iterations", pair.stopped ? Outcome::skipped : cases.difference,
              fmt::format("{} and {}", pair.iterations_a, pair.iterations_b));
  }
  if (suite.counts().tests == 0 || (pair.verdict == results::Verdict::undecided && suite.counts().failures == 0)) {
    suite.add("comparison", Outcome::skipped, "nothing could be compared");
  }
  return suite;
}

Suite suite_of(const results::PairAverages& averages) {
  Suite suite("average of " + averages.runner_a + " vs. " + averages.runner_b, 0);
  for (const results::AveragedOutput& output : averages.outputs) {
    std::string line;
    for (const results::Judgement& judgement : output.judgements) {
      if (!judgement.passed) line += (line.empty() ? "" : "; ") + judgement_line(judgement);
    }
    suite.add(output.name, output.passed ? Outcome::passed : Outcome::failure, line);
  }
  return suite;
}

Suite validation_suite(const std::vector<results::ValidatedOutput>& validated) {
  Suite suite("output validation", 0);
  for (const results::ValidatedOutput& output : validated) {
    const bool is_valid = output.nan_count + output.inf_count == 0;
    suite.add(fmt::format("{}: {} [iteration {}]", output.runner, output.name, output.iteration),
              is_valid ? Outcome::passed : Outcome::failure,
              is_valid ? "" : fmt::format("{} NaN, {} infinite", output.nan_count, output.inf_count));
  }
  return suite;
}

Suite runner_suite(const std::vector<results::RunnerRun>& runs) {
  double seconds = 0;
  for (const results::RunnerRun& run : runs) seconds += run.load_seconds + run.run_seconds;
  Suite suite("runners", seconds);
  for (const results::RunnerRun& run : runs) {
    suite.add(run.runner, run.failure.empty() ? Outcome::passed : Outcome::error, run.failure);
  }
  return suite;
}

std::vector<Suite> suites_of(const results::RunReport& report) {
  std::vector<Suite> suites = {runner_suite(report.runs)};
  for (const results::PairComparison& pair : report.pairs) {
    suites.push_back(suite_of({pair, outcome_of_difference(report)},
                              report.compare_seconds / static_cast<double>(report.pairs.size())));
  }
  for (const results::PairAverages& averages : report.averages) suites.push_back(suite_of(averages));
  if (!report.validated.empty()) suites.push_back(validation_suite(report.validated));
  return suites;
}

}  // namespace

std::string junit_xml(const results::RunReport& report) {
  Counts total;
  double seconds = 0;
  std::string text;
  for (const Suite& suite : suites_of(report)) {
    total.add(suite.counts());
    seconds += suite.seconds();
    text += suite.text();
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {} time=\"{:.6f}\">\n{}</testsuites>\n",
      escaped("assay run " + report.model), total.attributes(), seconds, text);
}

}  // namespace assay::report
