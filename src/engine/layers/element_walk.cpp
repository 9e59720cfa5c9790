#include "engine/layers/element_walk.h"

#include <algorithm>

namespace assay::engine {

std::vector<int64_t> walked_extents(const TensorDesc& out) {
  std::vector<int64_t> extents;
  for (const size_t dim : memory_order(out)) extents.push_back(out.dims[dim]);
  return extents;
}

std::optional<std::vector<int64_t>> walked_strides(const TensorDesc& operand, const TensorDesc& out) {
  if (operand.dims.size() > out.dims.size()) return std::nullopt;
  const size_t missing = out.dims.size() - operand.dims.size();
  for (size_t i = 0; i < operand.dims.size(); ++i) {
    if (operand.dims[i] != 1 && operand.dims[i] != out.dims[i + missing]) return std::nullopt;
  }
  std::vector<int64_t> strides;
  for (const size_t dim : memory_order(out)) {
    const bool is_broadcast = dim < missing || operand.dims[dim - missing] == 1;
    strides.push_back(is_broadcast ? 0 : operand.strides[dim - missing]);
  }
  return strides;
}

void join_walked(std::vector<int64_t>& extents, const std::vector<std::vector<int64_t>*>& strides) {
  for (size_t i = extents.size(); i-- > 1;) {
    const auto joins = [&](const std::vector<int64_t>* operand) {
      return (*operand)[i - 1] == (*operand)[i] * extents[i];
    };
    if (!std::ranges::all_of(strides, joins)) continue;
    extents[i - 1] *= extents[i];
    extents.erase(extents.begin() + static_cast<ptrdiff_t>(i));
    for (std::vector<int64_t>* operand : strides) {
      (*operand)[i - 1] = (*operand)[i];
      operand->erase(operand->begin() + static_cast<ptrdiff_t>(i));
    }
  }
  if (!extents.empty()) return;
  extents = {1};
  for (std::vector<int64_t>* operand : strides) *operand = {0};
}

int64_t walked_offset(const std::vector<int64_t>& extents, const std::vector<int64_t>& strides, int64_t at) {
  int64_t offset = 0;
  for (size_t dim = extents.size(); dim-- > 0; at /= extents[dim]) offset += at % extents[dim] * strides[dim];
  return offset;
}

}  // namespace assay::engine
