#include "tasks/run.h"

#include <algorithm>

#include "base/text.h"
#include "compare/runs/compare_saved.h"
#include "compare/runs/verdict.h"
#include "library/content.h"
#include "library/observer.h"
#include "tasks/check.h"
#include "tasks/threads.h"

namespace assay {
namespace {

Verdict to_public(results::Verdict verdict) { return static_cast<Verdict>(verdict); }

OutputDifference to_public(const results::OutputComparison& output) {
  OutputDifference found;
  found.name = output.name_a;
  found.passed = output.passed;
  found.fault = output.fault;
  if (!output.metrics) return found;
  const results::PairMetrics& metrics = *output.metrics;
  found.max_absolute = metrics.absolute.greatest;
  found.max_relative = metrics.relative.greatest;
  found.mean_absolute = metrics.absolute.mean;
  found.mean_relative = metrics.relative.mean;
  found.cosine = metrics.cosine;
  found.snr_db = metrics.snr_db;
  found.count = metrics.count;
  found.failed_count = metrics.failed_count;
  return found;
}

// Error (usage) if no backend has a setting of that name.
void set(const std::string& name, const std::vector<std::string>& values, exec::Settings& settings) {
  std::vector<std::string> known;
  for (const tasks::BackendSettings& backend : tasks::backend_settings()) {
    for (const exec::Setting& setting : backend.settings) known.emplace_back(setting.name);
  }
  if (std::ranges::find(known, name) == known.end()) {
    fail(ErrorCode::usage, "no backend has a setting `{}`; settings: {}", printable(name), join(known, ", "));
  }
  settings.set(name, values);
}

tasks::RunRequest request_of(const RunOptions& options) {
  tasks::RunRequest request;
  request.backends = options.backends;
  request.session.max_memory_bytes = options.max_memory_bytes;
  tasks::check_threads(options.threads);
  request.session.threads = options.threads;
  request.session.search.python = options.python;
  for (const auto& [name, values] : options.settings) set(name, values, request.session.settings);
  request.isolate = options.isolate;
  request.timeout_seconds = options.timeout_seconds;
  request.inputs.data = library::to_internal(options.inputs);
  request.inputs.iterations = options.iterations;
  request.inputs.generated.seed = options.seed;
  request.outputs.names = options.outputs;
  request.outputs.is_everything = options.all_values;
  request.compare = library::to_internal(options.tolerance);
  request.computes_tolerance = options.tolerance.is_computed;
  request.keeps_outputs = true;
  return request;
}

std::vector<Run> runs_of(const tasks::RunOutcome& outcome) {
  std::vector<Run> runs;
  for (const results::RunnerRun& run : outcome.report.runs) {
    runs.push_back({run.runner, run.failure, run.remedy, run.load_seconds, run.run_seconds, {}});
  }
  for (size_t i = 0; i < outcome.outputs.size() && i < runs.size(); ++i) {
    for (const formats::SavedIteration& iteration : outcome.outputs[i].iterations) {
      runs[i].outputs.push_back(library::to_public(iteration.outputs));
    }
  }
  return runs;
}

}  // namespace

namespace library {

Comparison to_public(const results::PairComparison& pair) {
  Comparison comparison{pair.runner_a, pair.runner_b, assay::to_public(pair.verdict), {}, {}};
  for (const results::IterationComparison& iteration : pair.iterations) {
    std::vector<OutputDifference>& outputs = comparison.iterations.emplace_back();
    for (const results::OutputComparison& output : iteration.outputs) outputs.push_back(assay::to_public(output));
    for (const std::vector<std::string>* names : {&iteration.missing, &iteration.extra}) {
      comparison.missing.insert(comparison.missing.end(), names->begin(), names->end());
    }
  }
  return comparison;
}

compare::CompareOptions to_internal(const Tolerance& tolerance) {
  compare::CompareOptions options;
  options.atol.set("", tolerance.absolute);
  options.rtol.set("", tolerance.relative);
  return options;
}

}  // namespace library

RunReport Model::run(const RunOptions& options, Observer* observer) const {
  library::TaskObserver watching(observer);
  tasks::RunRequest request = request_of(options);
  request.model = library::source_of(*this);
  const tasks::RunOutcome outcome = tasks::run(std::move(request), watching);
  RunReport report{to_public(outcome.report.verdict), runs_of(outcome), {}, {}};
  for (const results::PairComparison& pair : outcome.report.pairs)
    report.comparisons.push_back(library::to_public(pair));
  for (const Diagnostic& finding : outcome.report.findings) report.findings.push_back(library::to_finding(finding));
  return report;
}

Comparison compare_outputs(const Values& a, const Values& b, const Tolerance& tolerance) {
  const tensor::NamedData first = library::to_internal(a);
  const tensor::NamedData second = library::to_internal(b);
  const compare::CompareOptions options = library::to_internal(tolerance);
  const std::vector<const tensor::NamedData*> views_a = {&first};
  const std::vector<const tensor::NamedData*> views_b = {&second};
  results::PairComparison pair = compare::compare_saved(views_a, views_b, options);
  pair.verdict = compare::verdict(pair);
  return library::to_public(pair);
}

std::vector<BackendInfo> available_backends(const std::string& python) {
  std::vector<BackendInfo> found;
  for (const results::BackendHealth& backend : tasks::doctor({}, {.python = python}).backends) {
    found.push_back({backend.backend, backend.usable, backend.version, backend.path});
  }
  for (const tasks::BackendSettings& backend : tasks::backend_settings()) {
    const auto info = std::ranges::find(found, backend.backend, &BackendInfo::name);
    for (const exec::Setting& setting : backend.settings) info->settings.emplace_back(setting.name);
  }
  return found;
}

}  // namespace assay
