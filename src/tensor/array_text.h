#pragma once

#include <string>

#include "tensor/tensor.h"

namespace assay::tensor {

// numpy's print options.
struct ArrayTextOptions {
  uint64_t threshold = 1000;  // arrays of more elements are cut
  int64_t edge_items = 3;     // shown at each end of a cut axis
  uint64_t line_width = 75;
};

// The elements laid out as numpy prints an array (nested brackets, aligned columns, "..." for what is cut), without a
// trailing line break.
std::string array_text(const Tensor& tensor, const ArrayTextOptions& options = {});

}  // namespace assay::tensor
