#pragma once

#include <cstdint>
#include <span>

#include "tensor/tensor.h"

namespace assay::compare {

// |a - b| of at most kTile elements from `first`, of integer or boolean tensors: exact before it is rounded to double.
void exact_difference(const tensor::Tensor& a, const tensor::Tensor& b, uint64_t first, std::span<double> out);
// The greatest of `count` such differences, at most 2^64 - 1.
uint64_t max_exact_difference(const tensor::Tensor& a, const tensor::Tensor& b, uint64_t first, uint64_t count);

}  // namespace assay::compare
