#include "tasks/permitted.h"

#include <algorithm>

#include "analysis/samples.h"
#include "exec/backend.h"

namespace assay::tasks {

double permitted_roundoff(const std::vector<std::string>& backends, const exec::Settings& settings) {
  double greatest = 0;
  for (const std::string& backend : backends) {
    const std::optional<tensor::DType> type = exec::make_backend(backend)->least_type(settings);
    if (type) greatest = std::max(greatest, analysis::roundoff(*type));
  }
  return greatest;
}

}  // namespace assay::tasks
