#pragma once

#include "tensor/tensor.h"

namespace assay::engine::cpu {

// True if oneDNN sums products of codes of this type by these int8 constants exactly. On processors without VNNI it
// adds up two of them in 16 bits, which saturate, and halves constants for codes that have a sign: only small constants
// for those without one are safe there.
bool are_sums_exact(tensor::DType codes, const tensor::Tensor& weights);

}  // namespace assay::engine::cpu
