#pragma once

#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace assay::tensorflow {

// The element type of a number in a file; undefined for those that ONNX does not have.
tensor::DType tensorflow_dtype(uint64_t number);
tensor::DType tflite_dtype(uint64_t number);

// Bytes of the elements of a tensor; the largest number for shapes that cannot be.
uint64_t bytes_needed(tensor::DType dtype, std::span<const int64_t> dims);

}  // namespace assay::tensorflow
