#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/compare.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/logging.h"
#include "cli/run/status.h"
#include "report/json_reports.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

compare::NewThresholds new_thresholds(const Arguments& arguments, const compare::CompareOptions& options) {
  return {.options = options,
          .has_functions = arguments.has("--compare-func"),
          .has_atol = arguments.has("--atol"),
          .has_rtol = arguments.has("--rtol"),
          .has_statistic = arguments.has("--check-error-stat"),
          .has_bound = {arguments.has("--l2-threshold"), arguments.has("--cosine-similarity-threshold"),
                        arguments.has("--psnr-threshold"), arguments.has("--snr-threshold")}};
}

void print_judged(const results::Rejudgement& judged, Log& log) {
  for (const std::string& function : judged.ignored) {
    log.info(fmt::format("Ignoring the saved results of `{}`: not requested", function));
  }
  for (const results::RejudgedPair& pair : judged.pairs) {
    for (const std::string& line : pair.lines) log.verdict(false, line);
    log.verdict(pair.passed == pair.iterations,
                fmt::format("Accuracy Summary | {} | {} vs. {} | Passed: {}/{} iterations", pair.function,
                            pair.runner_a, pair.runner_b, pair.passed, pair.iterations));
  }
  switch (judged.verdict) {
    case results::Verdict::equal:
      return log.verdict(true, "PASSED | Accuracy results passed the requested thresholds.");
    case results::Verdict::different:
      return log.verdict(false, "FAILED | Accuracy results did not pass the requested thresholds.");
    case results::Verdict::undecided:
      return log.verdict(false, "UNDECIDED | The saved results do not tell whether the thresholds are met.");
  }
}

int run_check_accuracy(const Arguments& arguments, Environment& environment) {
  const Stopwatch total;
  std::vector<std::string> notes;
  const compare::CompareOptions options = compare_options(arguments, notes);
  const std::string command = printable(environment.command_line);
  environment.log.start(fmt::format("RUNNING | Command: {}", command));
  for (const std::string& note : notes) environment.log.warning(note);
  const std::string path = arguments.value("path");
  LogObserver observer(arguments, environment);
  results::Rejudgement judged = tasks::rejudge_accuracy(path, new_thresholds(arguments, options), observer);
  print_judged(judged, environment.log);
  judged.path = path;
  judged.timings = {{"total_seconds", total.seconds()}};
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(judged));
  const bool passed = judged.verdict == results::Verdict::equal;
  environment.log.verdict(passed, fmt::format("{} | Runtime: {:.3f}s | Command: {}", verdict_word(judged.verdict),
                                              total.seconds(), command));
  return status_of(judged.verdict);
}

}  // namespace

Command command_check_accuracy() {
  return {.path = "check accuracy",
          .summary = "judge saved comparison results again under other thresholds",
          .description =
              "Reads what `run --save-accuracy-results` wrote. Without thresholds, every stored comparison is judged "
              "by its "
              "own. Verdicts by element can be rebuilt only where the greatest differences decide. Exit status: 0 all "
              "pass, "
              "1 one fails, 2 unreadable, 3 undecided or nothing to judge.",
          .positionals =
              {{.names = {"path"}, .metavar = "FILE", .help = "the saved results", .is_file = true, .required = true}},
          .groups = {logging_group(), comparator_group(), functions_group(), json_group()},
          .run = run_check_accuracy,
          .examples = {"assay check accuracy results.json --compare-func l2"}};
}

}  // namespace assay::cli
