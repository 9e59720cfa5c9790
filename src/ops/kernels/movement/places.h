#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/infer.h"
#include "tensor/tensor.h"

namespace assay::ops {

// An index counted from the end made one counted from the start. Error naming index and limit where it is out of range.
uint64_t checked_index(int64_t index, uint64_t length);

// Error where the indices of input 1 have more places than the data of input 0 along an axis other than `axis`.
void require_indices_within(const Infer& node, size_t axis);

// Strides, in elements, of a tensor of shape `from` seen as broadcast to `to`: 0 where it is repeated.
std::vector<int64_t> broadcast_strides(const tensor::Shape& from, const tensor::Shape& to);
// The sum of index * stride over the axes, of the element at `place` of a tensor of shape `shape`.
int64_t strided_place(uint64_t place, const tensor::Shape& shape, std::span<const int64_t> strides);

// The places in data of this shape that indices along an axis name, for the indices [begin, begin + places.size()) of a
// tensor of them. Error where one is out of range.
struct IndexedPlaces {
  IndexedPlaces(const tensor::Shape& data, const tensor::Shape& indices, size_t along);
  void find(std::span<const int64_t> indices, uint64_t begin, std::span<uint64_t> places) const;

  tensor::Shape shape;           // of the indices
  std::vector<int64_t> strides;  // of the data; 0 for the axis
  uint64_t step, length;         // of the axis
};

// The sources of the elements along one axis; kNowhere: the element is filled.
using AxisMap = std::vector<int64_t>;
inline constexpr int64_t kNowhere = -1;

// Neighbouring elements along an axis that come from neighbours, or from nowhere.
struct AxisRun {
  uint64_t target = 0;
  int64_t source = 0;
  uint64_t count = 0;
};
std::vector<AxisRun> runs_of(const AxisMap& map);

// The tensor whose element at index i is that of `from` at maps[a][i[a]] for all axes a, or the only element of `fill`
// (without one zero, or an empty string) where one of them is kNowhere.
tensor::Tensor move_by_maps(const tensor::Tensor& from, std::span<const AxisMap> maps, const tensor::Tensor* fill);
// The place in a tensor of shape `from` that such maps lead to, or kNowhere.
int64_t mapped_place(uint64_t place, const tensor::Shape& from, std::span<const AxisMap> maps);

}  // namespace assay::ops
