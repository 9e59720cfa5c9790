#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace assay::inspect {

// The part of one axis to take: an index, which removes the axis, or every `step`-th element of a range. Negative
// numbers count from the end, as in Python.
struct AxisSlice {
  std::optional<int64_t> begin;
  std::optional<int64_t> end;
  int64_t step = 1;
  bool is_index = false;
};
using Slice = std::vector<AxisSlice>;

// `0,:,3:5`, `::2`, `-1`. Error (usage).
Slice parse_slice(std::string_view text);
// That part of a tensor; axes after the slice are taken whole. Error (usage) for an index out of range or more axes
// than there are, (unsupported) for types narrower than a byte.
tensor::Tensor take_slice(const tensor::Tensor& tensor, const Slice& slice);

}  // namespace assay::inspect
