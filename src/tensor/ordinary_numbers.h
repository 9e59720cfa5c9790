#pragma once

#include "tensor/tensor.h"

namespace assay::tensor {

// A tensor of float32, float16 or bfloat16 whose elements are of either sign and from 1/2 to below 1, the same ones
// each time: for measurements, which zeros would make look better, and comparisons.
Tensor ordinary_numbers(DType dtype, Shape shape);

}  // namespace assay::tensor
