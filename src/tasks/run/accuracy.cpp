#include "compare/runs/saved_metrics.h"
#include "formats/accuracy_results.h"
#include "tasks/run.h"

namespace assay::tasks {

void save_accuracy_results(const std::string& path, const results::RunReport& report,
                           const compare::CompareOptions& options) {
  formats::save_accuracy_results(path, compare::saved_metrics(report, options));
}

}  // namespace assay::tasks
