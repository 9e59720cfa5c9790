#include "surgery/sparsity/sparsity.h"

#include "base/stopwatch.h"
#include "tasks/check.h"

namespace assay::tasks {

results::SparsityReport inspect_sparsity(const ModelSource& model, Observer& observer) {
  const LoadedModel loaded = load_model(model, observer);
  tell_findings(loaded.findings, observer);
  const Stopwatch checking;
  results::SparsityReport report = surgery::inspect_sparsity(loaded.model);
  report.path = model.path;
  report.findings = loaded.findings.all();
  report.timings = {{"load_seconds", loaded.load_seconds}, {"check_seconds", checking.seconds()}};
  return report;
}

}  // namespace assay::tasks
