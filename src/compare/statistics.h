#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "results/tensor_stats.h"
#include "tensor/tensor.h"

namespace assay::compare {

struct StatisticsOptions {
  bool percentiles = true;
  bool histogram = false;
};

// Statistics of a tensor of numbers or booleans, in double. A NaN among the elements makes mean, variance, least,
// greatest and percentiles NaN, as in NumPy. Error (unsupported) for strings and complex numbers.
results::TensorStats statistics(const tensor::Tensor& tensor, const StatisticsOptions& options = {});

}  // namespace assay::compare
