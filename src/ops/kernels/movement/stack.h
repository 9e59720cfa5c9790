#pragma once

#include <span>

#include "tensor/datum.h"

namespace assay::ops {

// Tensors of one shape and type as one tensor with a new axis. With no parts, a tensor of `dtype` whose dims are those
// of `empty_shape` with a 0 for the new axis. Error where shapes differ.
tensor::Tensor stack(std::span<const tensor::Datum> parts, int64_t axis, tensor::DType dtype,
                     const tensor::Shape& empty_shape);
// The results of the iterations of a loop, at least one, as one tensor.
tensor::Datum collect(std::span<const tensor::Datum> parts, int64_t axis);
// Part number `index` along an axis, without that axis.
tensor::Tensor slice_off(const tensor::Tensor& tensor, int64_t axis, int64_t index);

}  // namespace assay::ops
