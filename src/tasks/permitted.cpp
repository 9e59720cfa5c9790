#include "tasks/permitted.h"

#include <algorithm>

#include "analysis/samples.h"

namespace assay::tasks {

double permitted_roundoff(const std::vector<std::string>& backends, const exec::Settings& settings) {
  const bool has_engine = std::ranges::find(backends, "engine") != backends.end();
  if (!has_engine) return 0;
  if (settings.has("bf16") || settings.has("best")) return analysis::roundoff(tensor::DType::bfloat16);
  return settings.has("fp16") && settings.has("strict") ? analysis::roundoff(tensor::DType::float16) : 0;
}

}  // namespace assay::tasks
