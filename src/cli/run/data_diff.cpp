#include "cli/run/data_diff.h"

#include <fmt/format.h>

#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/options/groups/json.h"
#include "cli/options/remedies.h"
#include "cli/options/values.h"
#include "cli/run/status.h"
#include "report/json_reports.h"
#include "report/run/text_comparison.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

compare::CompareOptions diff_options(const Arguments& arguments, bool wants_details) {
  compare::CompareOptions options;
  options.rtol.set("", parse_tolerance("--rtol", arguments.value("--rtol")));
  options.atol.set("", parse_tolerance("--atol", arguments.value("--atol")));
  options.infinities_equal = true;
  options.histograms_of_passed = wants_details;
  options.wants_percentiles = [wants_details](std::string_view) { return wants_details; };
  return options;
}

}  // namespace

int diff_data(const std::string& path_a, const std::string& path_b, const Arguments& arguments,
              Environment& environment) {
  const Stopwatch total;
  tasks::DataComparison found =
      tasks::compare_data(path_a, path_b, diff_options(arguments, environment.log.enabled(LogLevel::verbose)));
  results::RunReport& report = found.report;
  for (const results::PairComparison& pair : report.pairs)
    report::print_comparison(pair, environment.log, {.more = kListsAll});
  if (found.runs_a != found.runs_b) {
    environment.log.verdict(false, fmt::format("FAILED | `{}` holds {} run(s), `{}` holds {}", printable(path_a),
                                               found.runs_a, printable(path_b), found.runs_b));
  }
  report.timings = {{"total_seconds", total.seconds()}};
  const results::DataDifference difference{std::move(report.pairs), report.verdict, report.timings};
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(difference));
  return status_of(report.verdict);
}

}  // namespace assay::cli
