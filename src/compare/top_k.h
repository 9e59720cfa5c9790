#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace assay::compare {

// Indices, int64, of the k greatest elements along an axis, greatest first; of equal ones the lower index first, NaN
// last. k is at most the length of the axis. A scalar counts as a list of one. Error (usage) for an axis that does
// not exist or a negative k, (unsupported) for strings and complex numbers.
tensor::Tensor top_k(const tensor::Tensor& tensor, int64_t k, int64_t axis = -1);

}  // namespace assay::compare
