#pragma once

#include "results/tensor_stats.h"
#include "tensor/tensor.h"

namespace assay::compare {

// Statistics of a tensor of numbers or booleans, in double; the median by selection. A NaN among the elements makes
// mean, variance, median, least and greatest NaN, as in NumPy.
results::TensorStats statistics(const tensor::Tensor& tensor);

}  // namespace assay::compare
