#include "cli/run/data_diff.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/options/groups/json.h"
#include "cli/options/values.h"
#include "cli/run/status.h"
#include "cli/stopwatch.h"
#include "compare/runs/compare_saved.h"
#include "compare/runs/verdict.h"
#include "formats/saved_data.h"
#include "report/json_run.h"
#include "report/text_comparison.h"

namespace assay::cli {
namespace {

// Inputs count as the one run of a runner named after the file.
formats::SavedRuns load_runs(const std::string& path) {
  formats::SavedData data = formats::load_data(path);
  if (formats::SavedRuns* runs = std::get_if<formats::SavedRuns>(&data)) return std::move(*runs);
  formats::SavedRun run{path, {}};
  for (tensor::NamedData& inputs : std::get<formats::SavedInputs>(data)) {
    run.iterations.push_back({.outputs = std::move(inputs), .runner = path});
  }
  return {std::move(run)};
}

std::vector<const tensor::NamedData*> views(const formats::SavedRun& run) {
  std::vector<const tensor::NamedData*> iterations;
  for (const formats::SavedIteration& iteration : run.iterations) iterations.push_back(&iteration.outputs);
  return iterations;
}

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
  const compare::CompareOptions options = diff_options(arguments, environment.log.enabled(LogLevel::verbose));
  const Stopwatch total;
  const formats::SavedRuns a = load_runs(path_a);
  const formats::SavedRuns b = load_runs(path_b);
  results::RunReport report;
  report.model = "";
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const std::vector<const tensor::NamedData*> first = views(a[i]);
    const std::vector<const tensor::NamedData*> second = views(b[i]);
    results::PairComparison pair = compare::compare_saved(first, second, options);
    pair.runner_a = a[i].runner;
    pair.runner_b = b[i].runner;
    report::print_comparison(pair, environment.log);
    report.pairs.push_back(std::move(pair));
  }
  report.verdict = compare::verdict(report);
  if (a.size() != b.size()) {
    environment.log.verdict(false, fmt::format("FAILED | `{}` holds {} run(s), `{}` holds {}", printable(path_a),
                                               a.size(), printable(path_b), b.size()));
    report.verdict = results::Verdict::different;
  }
  report.timings = {{"total_seconds", total.seconds()}};
  if (wants_json(arguments)) write_json(arguments, environment, report::data_diff_json(report));
  return status_of(report.verdict);
}

}  // namespace assay::cli
