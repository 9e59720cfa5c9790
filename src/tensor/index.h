#pragma once

#include <cstdint>
#include <vector>

#include "tensor/shape.h"

namespace assay::tensor {

// The index, axis by axis, of the element at `place` in row-major order. No dim may be 0.
std::vector<int64_t> index_of(uint64_t place, const Shape& shape);

}  // namespace assay::tensor
