#pragma once

#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace assay::inspect {

// Percentiles (0 to 100) of a tensor's elements, interpolated between the two nearest ones as numpy.percentile does;
// NaN if there are no elements or one of them is NaN.
std::vector<std::pair<double, double>> percentiles(const tensor::Tensor& tensor, const std::vector<double>& percents);

}  // namespace assay::inspect
