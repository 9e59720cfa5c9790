#pragma once

#include <string>

#include "tensor/tensor.h"

namespace assay::onnx {

// The elements of a tensor of a known dtype, as `{1, 2}`, in the form that the package `onnx` reads: floats narrower
// than float32 as bit patterns, complex numbers as two numbers each, types of 4 and 2 bits as packed bytes.
void append_elements(std::string& out, const tensor::Tensor& tensor);

}  // namespace assay::onnx
