#include "ops/kernels/movement/stack.h"

#include <fmt/format.h>

#include "base/error.h"
#include "ops/dim.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/movement/movement.h"
#include "ops/node.h"

namespace assay::ops {

tensor::Tensor stack(std::span<const tensor::Datum> parts, int64_t axis, tensor::DType dtype,
                     const tensor::Shape& empty_shape) {
  tensor::Shape shape = parts.empty() ? empty_shape : parts.front().tensor().shape();
  shape.insert(shape.begin() + axis, static_cast<int64_t>(parts.size()));
  MoveTo result(dtype, shape);
  const AxisView view = view_axis(shape, axis);
  for (size_t k = 0; k < parts.size(); ++k) {
    const tensor::Tensor& part = parts[k].tensor();
    if (part.shape() != parts.front().tensor().shape() || part.dtype() != dtype) {
      fail(ErrorCode::shape, "iterations give different shapes or types: {} {} and {} {}", tensor::name(dtype),
           text(dims_of(parts.front().tensor().shape())), tensor::name(part.dtype()), text(dims_of(part.shape())));
    }
    const MoveFrom from(part);
    for (uint64_t o = 0; o < view.outer; ++o) result.copy(from, o * view.inner, view.place(o, k, 0), view.inner);
  }
  return result.finish();
}

tensor::Datum collect(std::span<const tensor::Datum> parts, int64_t axis) {
  for (const tensor::Datum& part : parts) {
    if (!part.is_tensor()) fail(ErrorCode::shape, "iterations give what is no tensor: it cannot be collected");
  }
  const tensor::Tensor& first = parts.front().tensor();
  const int64_t place = normalize_axis(axis, static_cast<int64_t>(first.shape().size()) + 1);
  return {stack(parts, place, first.dtype(), {}), parts.front().declared()};
}

tensor::Tensor slice_off(const tensor::Tensor& tensor, int64_t axis, int64_t index) {
  const auto place = static_cast<size_t>(axis);
  tensor::Shape shape = tensor.shape();
  std::vector<int64_t> strides = row_major_strides(shape);
  const int64_t offset = index * strides[place];
  shape.erase(shape.begin() + axis);
  strides.erase(strides.begin() + axis);
  return copy_strided(tensor, shape, offset, strides);
}

}  // namespace assay::ops
