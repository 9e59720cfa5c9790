#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace assay::tensor {

// All elements of a tensor in a carrier: double, int64_t, uint64_t, std::complex<double> (numbers of any type) or
// std::string. Errors as load().
template <typename C>
std::vector<C> load_elements(const Tensor& tensor);

}  // namespace assay::tensor
