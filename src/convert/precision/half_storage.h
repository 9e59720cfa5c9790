#pragma once

#include "tensor/tensor.h"

namespace assay::convert {

// The tensor in float16 or bfloat16; `floats` is of float32. Nothing is converted before the elements are asked for,
// and a tensor that is only written to a file is converted piece by piece.
tensor::Tensor to_half(const tensor::Tensor& floats, tensor::DType half, bool clamps);

}  // namespace assay::convert
