#include "engine/lowering/list_or.h"

namespace assay::engine {

std::vector<int64_t> list_or(const ops::Node& facts, const char* name, size_t count, int64_t otherwise) {
  const std::vector<int64_t> written = facts.integers(name);
  return written.empty() ? std::vector<int64_t>(count, otherwise) : written;
}

}  // namespace assay::engine
