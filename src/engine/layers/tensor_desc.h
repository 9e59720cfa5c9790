#pragma once

#include <optional>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace assay::engine {

// A tensor as kernels see it: its dims are those of the model, its strides say how it lies in memory.
struct TensorDesc {
  tensor::DType dtype = tensor::DType::undefined;  // undefined: an operand that is left out
  tensor::Shape dims;
  tensor::Shape strides;  // in elements

  bool exists() const { return dtype != tensor::DType::undefined; }
  int64_t count() const;
  uint64_t size_bytes() const;
  bool operator==(const TensorDesc&) const = default;
};

// Floats that fit into float32, in which kernels compute.
inline bool is_short_float(tensor::DType dtype) {
  return dtype == tensor::DType::float32 || dtype == tensor::DType::bfloat16 || dtype == tensor::DType::float16;
}

// Order of the elements of a dense tensor: that of the dims, or with the second dim, the channels, innermost.
enum class Layout : uint8_t { plain, channels_last };

TensorDesc make_desc(tensor::DType dtype, tensor::Shape dims, Layout layout = Layout::plain);
// True if the desc is dense in that order; with dims of 1 it may be so in both.
bool has_layout(const TensorDesc& desc, Layout layout);

// The desc of the elements, taken in the order of the dims, with other dims; nullopt: no strides say where they are.
std::optional<TensorDesc> find_reshaped(const TensorDesc& desc, const tensor::Shape& dims);

// Dense, and such that find_reshaped makes these dims of it: dims that become one, or of which one becomes several, lie
// in their order, and such groups in that in which their innermost dims lie now.
TensorDesc make_reshapable(const TensorDesc& desc, const tensor::Shape& dims);

// Dims with more than one element in the order of memory, outermost first.
std::vector<size_t> memory_order(const TensorDesc& desc);
// All dims in the order of memory, innermost first, those of one element at the end.
std::vector<size_t> inner_first(const TensorDesc& desc);

// True if the elements fill one piece of memory, in any order of the dims.
bool is_dense(const TensorDesc& desc);

}  // namespace assay::engine
