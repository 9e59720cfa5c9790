#pragma once

#include "backends/openvino/ov_library.h"
#include "tensor/datum.h"

namespace assay::backends::ov {

// A tensor of the library over the elements of `tensor`, which must outlive it; they are copied into `copy` where their
// alignment needs it. Error (unsupported) for element types that the library does not have.
Owned<OvTensor> to_ov(const Library& library, const tensor::Tensor& tensor, tensor::Tensor& copy);

// Error (unsupported) for a type that ONNX does not have.
tensor::DType to_dtype(ElementType type);

// A copy: the library uses its memory again in the next run.
tensor::Tensor to_tensor(const Library& library, const OvTensor* tensor);

}  // namespace assay::backends::ov
