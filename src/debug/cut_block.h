#pragma once

#include "tensor/tensor.h"

namespace assay::debug {

// The block at the beginning of a tensor. Error (unsupported) where the shape does not lie within it, and for elements
// narrower than a byte.
tensor::Tensor cut_block(const tensor::Tensor& tensor, const tensor::Shape& shape);

}  // namespace assay::debug
