#include "tasks/data.h"

#include <fmt/format.h>

#include "assay/data.h"
#include "base/error.h"
#include "base/text.h"
#include "library/content.h"
#include "library/observer.h"
#include "tasks/check.h"

namespace assay {
namespace {

SavedRun to_public(const formats::SavedRun& run) {
  SavedRun found{run.runner, {}};
  for (const formats::SavedIteration& iteration : run.iterations) {
    found.iterations.push_back(library::to_public(iteration.outputs));
  }
  return found;
}

formats::SavedRun to_internal(const SavedRun& run) {
  formats::SavedRun saved{run.runner, {}};
  for (const Values& iteration : run.iterations) {
    saved.iterations.push_back({.outputs = library::to_internal(iteration), .runner = run.runner});
  }
  return saved;
}

formats::SavedData to_internal(const SavedData& data) {
  if (data.is_inputs) {
    if (data.runs.size() != 1) fail(ErrorCode::usage, "inputs are one run, got {}", data.runs.size());
    return library::to_internal(data.runs.front().iterations);
  }
  formats::SavedRuns runs;
  for (const SavedRun& run : data.runs) runs.push_back(to_internal(run));
  return runs;
}

formats::DataChanges to_internal(const DataChanges& changes) {
  formats::DataChanges result{.runner = changes.runner,
                              .selected = changes.selected,
                              .dropped = changes.dropped,
                              .renamed = changes.renamed,
                              .casts = {}};
  for (const auto& [pattern, type] : changes.casts) {
    const std::optional<tensor::DType> dtype = tensor::find_dtype(type);
    if (!dtype) fail(ErrorCode::usage, "there is no element type `{}`", printable(type));
    result.casts.push_back({pattern, *dtype});
  }
  return result;
}

}  // namespace

SavedData load_data(const std::string& path) {
  const formats::SavedData loaded = formats::load_data(path);
  SavedData data;
  if (const auto* inputs = std::get_if<formats::SavedInputs>(&loaded)) {
    SavedRun& run = data.runs.emplace_back();
    for (const tensor::NamedData& iteration : *inputs) run.iterations.push_back(library::to_public(iteration));
    return data;
  }
  data.is_inputs = false;
  for (const formats::SavedRun& run : std::get<formats::SavedRuns>(loaded)) data.runs.push_back(to_public(run));
  return data;
}

void save_data(const SavedData& data, const std::string& path, Observer* observer) {
  library::TaskObserver watching(observer);
  check_cancelled(watching);
  tasks::save_data(to_internal(data), path, watching);
}

void convert_data(const std::string& from, const std::string& to, const DataChanges& changes, Observer* observer) {
  library::TaskObserver watching(observer);
  check_cancelled(watching);
  tasks::convert_data({.paths = {from}, .changes = to_internal(changes), .output = to}, watching);
}

DataComparison compare_data(const std::string& path_a, const std::string& path_b, const Tolerance& tolerance) {
  if (tolerance.is_computed) fail(ErrorCode::usage, "tolerances cannot be computed without the model");
  const tasks::DataComparison found = tasks::compare_data(path_a, path_b, library::to_internal(tolerance));
  DataComparison result{static_cast<Verdict>(found.report.verdict), {}};
  for (const results::PairComparison& pair : found.report.pairs) {
    result.comparisons.push_back(library::to_public(pair));
  }
  return result;
}

}  // namespace assay
