#pragma once

#include "results/scatter.h"
#include "tensor/tensor.h"

namespace assay::compare {

struct ScatterSize {
  uint32_t columns = 640;
  uint32_t rows = 240;
};

// Counts where the differences of two tensors of one shape lie, in two passes. Infinite and NaN elements are
// left out. Error (unsupported) for strings.
results::Scatter scatter(const tensor::Tensor& a, const tensor::Tensor& b, ScatterSize size);

}  // namespace assay::compare
