#include "ops/kernels/attention/heads.h"

#include <algorithm>

namespace assay::ops {
namespace {

Dim divided(const Dim& hidden, int64_t heads) {
  if (hidden.is_number() && *hidden.number() % heads != 0) {
    fail(ErrorCode::shape, "{} heads do not divide a hidden size of {}", heads, hidden.text());
  }
  return floor_div(hidden, heads);
}

// Calls fn(place in order, place in the layout) for every vector.
template <typename Fn>
void each_vector(const HeadLayout& layout, Fn fn) {
  uint64_t ordered = 0;
  for (uint64_t b = 0; b < layout.batch; ++b) {
    for (uint64_t h = 0; h < layout.heads; ++h) {
      for (uint64_t at = 0; at < layout.length; ++at, ordered += layout.size) fn(ordered, layout.place(b, h, at));
    }
  }
}

}  // namespace

HeadDims head_dims(const Infer& node, uint32_t input, std::string_view attribute) {
  if (!node.is_ranked(input)) return {};
  const Dims& dims = node.dims(input);
  const int64_t heads = node.integer(attribute, 0);
  if (heads < 0) fail(ErrorCode::shape, "attribute `{}` is {}", attribute, heads);
  if (dims.size() == 4) {
    if (heads != 0) unify(dims[1], heads, "heads of the input and of the attribute");
    return {dims[0], dims[1], dims[2], dims[3]};
  }
  if (dims.size() != 3) fail(ErrorCode::shape, "input {} must have rank 3 or 4, its shape is {}", input, text(dims));
  if (heads == 0) fail(ErrorCode::shape, "inputs of rank 3 need the attribute `{}`", attribute);
  return {dims[0], heads, dims[1], divided(dims[2], heads)};
}

Dims packed_like(const Infer& node, uint32_t input, const HeadDims& dims) {
  if (node.rank(input) == 4) return {dims.batch, dims.heads, dims.length, dims.size};
  return {dims.batch, dims.length, dims.heads * dims.size};
}

HeadLayout::HeadLayout(const Shape& shape, int64_t packed_heads) : is_packed(shape.size() == 3) {
  batch = static_cast<uint64_t>(shape[0]);
  heads = static_cast<uint64_t>(is_packed ? packed_heads : shape[1]);
  length = static_cast<uint64_t>(is_packed ? shape[1] : shape[2]);
  size = static_cast<uint64_t>(is_packed ? shape[2] / packed_heads : shape[3]);
}

std::vector<double> unpack_heads(const std::vector<double>& elements, const HeadLayout& layout) {
  if (!layout.is_packed) return elements;
  std::vector<double> result(elements.size());
  each_vector(layout, [&](uint64_t ordered, uint64_t packed) {
    std::copy_n(elements.data() + packed, layout.size, result.data() + ordered);
  });
  return result;
}

std::vector<double> pack_heads(const std::vector<double>& elements, const HeadLayout& layout) {
  if (!layout.is_packed) return elements;
  std::vector<double> result(elements.size());
  each_vector(layout, [&](uint64_t ordered, uint64_t packed) {
    std::copy_n(elements.data() + ordered, layout.size, result.data() + packed);
  });
  return result;
}

}  // namespace assay::ops
