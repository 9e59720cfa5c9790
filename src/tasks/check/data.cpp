#include <algorithm>

#include "base/text.h"
#include "compare/runs/compare_saved.h"
#include "compare/runs/verdict.h"
#include "formats/accuracy_results.h"
#include "formats/saved_data.h"
#include "tasks/check.h"

namespace assay::tasks {
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

}  // namespace

results::AccuracyResults load_accuracy(const std::string& path) {
  results::AccuracyResults saved = formats::load_accuracy_results(path);
  compare::settle(saved);
  return saved;
}

results::Rejudgement rejudge_accuracy(const std::string& path, const compare::NewThresholds& thresholds,
                                      Observer& observer) {
  observer.info("Loading accuracy results from " + printable(path));
  return compare::rejudge(formats::load_accuracy_results(path), thresholds);
}

DataComparison compare_data(const std::string& path_a, const std::string& path_b,
                            const compare::CompareOptions& options) {
  const formats::SavedRuns a = load_runs(path_a);
  const formats::SavedRuns b = load_runs(path_b);
  DataComparison found{.runs_a = a.size(), .runs_b = b.size()};
  results::RunReport& report = found.report;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    results::PairComparison pair = compare::compare_saved(views(a[i]), views(b[i]), options);
    pair.runner_a = a[i].runner;
    pair.runner_b = b[i].runner;
    report.pairs.push_back(std::move(pair));
  }
  report.verdict = a.size() == b.size() ? compare::verdict(report) : results::Verdict::different;
  return found;
}

}  // namespace assay::tasks
