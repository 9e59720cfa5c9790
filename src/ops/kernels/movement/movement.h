#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace assay::ops {

// For operators that move elements and do not compute with them: elements of any type, strings and those narrower than
// a byte included, as opaque things.
class MoveFrom {
 public:
  explicit MoveFrom(const tensor::Tensor& tensor);

 private:
  friend class MoveTo;
  uint64_t width_;  // bytes of one element; 0: strings
  tensor::Bytes bytes_;
  std::vector<std::byte> unpacked_;  // used if elements are narrower than a byte
  std::span<const std::string> strings_;
  tensor::Tensor keep_;
};

// A tensor being put together. Starts as zeros, or empty strings.
class MoveTo {
 public:
  MoveTo(tensor::DType dtype, tensor::Shape shape);
  // A copy of `start` to be changed in places.
  explicit MoveTo(const tensor::Tensor& start);

  // Elements [source, source + count) of `from`, which has the same dtype, to [target, target + count). Different
  // targets may be written from several threads.
  void copy(const MoveFrom& from, uint64_t source, uint64_t target, uint64_t count = 1) {
    if (width_ == 0) {
      std::copy_n(from.strings_.begin() + static_cast<ptrdiff_t>(source), count,
                  strings_.begin() + static_cast<ptrdiff_t>(target));
    } else if (count != 0) {
      std::memcpy(bytes_.data() + target * width_, from.bytes_.data() + source * width_, count * width_);
    }
  }
  // The elements of `from` at base + places[i], or, of `scatter`, those from `source` on to the places, in order.
  void gather(const MoveFrom& from, uint64_t base, std::span<const uint64_t> places, uint64_t target);
  void scatter(const MoveFrom& from, uint64_t source, std::span<const uint64_t> places);
  // `count` times the element at `source`.
  void fill(const MoveFrom& from, uint64_t source, uint64_t target, uint64_t count);
  tensor::Tensor finish();  // once

 private:
  tensor::DType dtype_;
  tensor::Shape shape_;
  uint64_t width_;
  std::vector<std::byte> bytes_;
  std::vector<std::string> strings_;
};

// The tensor of shape `to` whose element at index i is that of `from` at offset + sum of i[a] * strides[a].
tensor::Tensor copy_strided(const tensor::Tensor& from, const tensor::Shape& to, int64_t offset,
                            std::span<const int64_t> strides);
// The elements in another shape of as many; nothing is copied.
tensor::Tensor reshaped(const tensor::Tensor& tensor, tensor::Shape shape);

// A shape seen as [outer, length, inner] around one of its axes.
struct AxisView {
  uint64_t outer = 1;
  uint64_t length = 1;
  uint64_t inner = 1;
  uint64_t place(uint64_t o, uint64_t k, uint64_t i) const { return (o * length + k) * inner + i; }
};
AxisView view_axis(const tensor::Shape& shape, int64_t axis);

}  // namespace assay::ops
