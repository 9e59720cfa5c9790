#pragma once

#include "tensor/tensor.h"

namespace assay::tensor {

// The elements as another type, as NumPy's astype() has them: floats are truncated to integers, integers wrap, and what
// is not 0 is true. Error (unsupported) for strings and complex numbers.
Tensor converted(const Tensor& tensor, DType dtype);

// True if converted() keeps every value: integers that fit, floats that are whole and fit, true and false as 0 and 1.
// Between floating types rounding is not a loss.
bool converts_safely(const Tensor& tensor, DType dtype);

}  // namespace assay::tensor
