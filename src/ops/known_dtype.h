#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace assay::ops {

// Error (shape, unsupported) if the element type of a tensor is none, or a number that is not known: a file may give
// any.
void require_known_dtype(std::string_view what, const tensor::Tensor& tensor);

}  // namespace assay::ops
