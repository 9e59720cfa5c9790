#pragma once

#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace assay::ops {

// Strides, in elements, of a dense row-major tensor.
std::vector<int64_t> row_major_strides(const tensor::Shape& shape);

// The elements of a tensor as broadcast to a shape, in row-major order, read piece by piece. The tensor must outlive
// it.
class BroadcastReader {
 public:
  BroadcastReader(const tensor::Tensor& tensor, const tensor::Shape& to);
  BroadcastReader(tensor::Tensor&& tensor, const tensor::Shape& to) = delete;

  // Elements [begin, begin + out.size()) in a carrier: double, int64_t or uint64_t. From several threads.
  template <typename C>
  void read(uint64_t begin, std::span<C> out) const;
  // The place in the tensor of the element at `place` of the broadcast shape.
  uint64_t source_of(uint64_t place) const;

 private:
  template <typename C>
  void load(uint64_t first, std::span<C> out) const;

  tensor::DType dtype_;
  tensor::Bytes bytes_;
  bool is_whole_;                 // no broadcasting
  std::vector<int64_t> dims_;     // of the target, neighbours merged where they can be
  std::vector<int64_t> strides_;  // of the tensor along them, 0 where it is repeated
};

}  // namespace assay::ops
