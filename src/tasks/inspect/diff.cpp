#include "base/stopwatch.h"
#include "inspect/model_diff/model_diff.h"
#include "tasks/inspect.h"

namespace assay::tasks {
namespace {

LoadedModel load(const ModelSource& source, Observer& observer) {
  LoadedModel loaded = load_model(source, observer);
  tell_findings(loaded.findings, observer);
  return loaded;
}

}  // namespace

results::ModelDiff diff_models(const DiffRequest& request, Observer& observer) {
  const LoadedModel a = load(request.a, observer);
  const LoadedModel b = load(request.b, observer);
  const Stopwatch comparing;
  results::ModelDiff diff = inspect::diff_models(
      a.model, b.model,
      {.tolerance = {.rtol = request.rtol, .atol = request.atol}, .ignore_names = request.ignore_names});
  diff.path_a = request.a.path;
  diff.path_b = request.b.path;
  diff.findings_a = a.findings.all();
  diff.findings_b = b.findings.all();
  diff.timings = {{"load_seconds", a.load_seconds + b.load_seconds}, {"diff_seconds", comparing.seconds()}};
  return diff;
}

}  // namespace assay::tasks
