#pragma once

#include <string>

#include "tensor/tensor.h"

namespace assay::tensor {

// The elements laid out as numpy prints an array (nested brackets, aligned columns, "..." beyond `threshold` elements,
// three items at each edge, lines of at most 75 characters), without a trailing line break.
std::string array_text(const Tensor& tensor, uint64_t threshold = 1000);

}  // namespace assay::tensor
