#pragma once

#include <string_view>

#include "results/value_facts.h"
#include "tensor/tensor.h"

namespace assay::scene {

// Statistics of the elements, with channels along the axis where there are not too many. Error (unsupported) for
// strings and complex numbers.
results::ValueFacts value_facts(const tensor::Tensor& tensor, size_t channel_axis);

// The element, or mean of elements, that a cell shows.
enum class Reduction { greatest, least, mean };

// A part of a tensor, in NumPy's notation, as rows and columns: columns are the last axis that is left, rows all before
// it. At most `most` of either are given. Error (usage) for a slice that the tensor does not have.
results::ValueSlice value_slice(const tensor::Tensor& tensor, std::string_view slice, Reduction reduction, size_t most);

// Two tensors of one shape. Error (shape) for others.
results::ValueComparison compare_values(const tensor::Tensor& left, const tensor::Tensor& right);

}  // namespace assay::scene
