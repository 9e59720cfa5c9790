#pragma once

#include "ops/eval.h"
#include "ops/infer.h"

namespace assay::ops {

// Dims of NumPy's matmul of two shapes; Error where they do not fit.
Dims matmul_dims(std::span<const Dim> a, std::span<const Dim> b);
// Multiply-accumulates of such a product.
Dim matmul_macs(std::span<const Dim> a, std::span<const Dim> result);

// NumPy's matmul of two tensors with shapes that fit, in double: element by element the sum over k ascending.
std::vector<double> matmul(const Tensor& a, const Tensor& b, const Shape& result);

}  // namespace assay::ops
