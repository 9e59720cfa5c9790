#pragma once

#include <vector>

#include "ops/eval.h"
#include "ops/infer.h"

namespace assay::ops {

// A tensor of vectors for each head: [batch, heads, length, size], or packed as [batch, length, heads * size].
struct HeadDims {
  Dim batch, heads, length, size;
};

// The dims of an input of rank 3 or 4; unknown ones stay unknown. `heads` is the attribute that packed inputs need; it
// is called `attribute` in errors.
HeadDims head_dims(const Infer& node, uint32_t input, std::string_view attribute);
Dims packed_like(const Infer& node, uint32_t input, const HeadDims& dims);

// HeadDims as numbers.
struct HeadLayout {
  uint64_t batch = 0;
  uint64_t heads = 0;
  uint64_t length = 0;
  uint64_t size = 0;
  bool is_packed = false;

  HeadLayout(const Shape& shape, int64_t packed_heads);
  uint64_t vectors() const { return batch * heads * length; }
  // The begin of vector `at` of head `h` of batch entry `b`.
  uint64_t place(uint64_t b, uint64_t h, uint64_t at) const {
    return (is_packed ? (b * length + at) * heads + h : (b * heads + h) * length + at) * size;
  }
};

// Elements in the order [batch, heads, length, size], and back.
std::vector<double> unpack_heads(const std::vector<double>& elements, const HeadLayout& layout);
std::vector<double> pack_heads(const std::vector<double>& elements, const HeadLayout& layout);

}  // namespace assay::ops
