#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ops/kernels/movement/movement.h"

namespace assay::surgery {

using ops::AxisView;

// The pattern of elements that count as zero: (bits & mask) == zero. `width` is its size in bytes.
struct ZeroPattern {
  uint32_t width = 0;
  uint64_t mask = 0;
  uint64_t zero = 0;
};

struct SparsityCounts {
  uint64_t zeros = 0;
  uint64_t bad_groups = 0;
  std::optional<uint64_t> first_bad;  // place of its first element
};

// Counts groups of 4 consecutive elements along the axis, whose length is a multiple of 4, that have fewer than 2
// zeros.
SparsityCounts scan_groups(tensor::Bytes bytes, const AxisView& view, const ZeroPattern& pattern);

}  // namespace assay::surgery
