#include "tasks/permitted.h"

#include <algorithm>

#include "analysis/samples.h"

namespace assay::tasks {

double permitted_roundoff(const std::vector<std::string>& backends, const exec::Settings& settings) {
  const bool has_engine = std::ranges::find(backends, "engine") != backends.end();
  return has_engine && (settings.has("bf16") || settings.has("best")) ? analysis::roundoff(tensor::DType::bfloat16) : 0;
}

}  // namespace assay::tasks
