#include "tensor/shape.h"

#include <algorithm>
#include <limits>

namespace assay::tensor {

std::optional<uint64_t> element_count(std::span<const int64_t> dims) {
  if (std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; })) return std::nullopt;
  // A zero anywhere makes the product zero, however large the others are.
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  int64_t count = 1;
  for (const int64_t dim : dims) {
    if (__builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  }
  return static_cast<uint64_t>(count);
}

}  // namespace assay::tensor
