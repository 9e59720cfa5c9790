#pragma once

#include <algorithm>

#include "base/parallel.h"
#include "engine/layers/tensor_desc.h"

namespace assay::engine::cpu {

// One dim of a dense tensor as it lies in memory: so many elements of it lie side by side (a row), a group has a row
// for each place along the dim, and groups lie one behind the other.
struct MiddleDim {
  int64_t groups = 1, length = 1, inner = 1;

  MiddleDim(const TensorDesc& desc, int64_t axis) {
    bool is_behind = false;
    for (const size_t dim : memory_order(desc)) {
      const bool is_axis = static_cast<int64_t>(dim) == axis;
      (is_axis ? length : is_behind ? inner : groups) *= desc.dims[dim];
      is_behind = is_behind || is_axis;
    }
  }

  // Calls fn(place of the first element, columns) for up to kColumns columns of a group, on all threads.
  template <int64_t kColumns, typename Fn>
  void for_columns(Fn&& fn) const {
    constexpr int64_t kGrain = 1 << 13;  // elements
    const int64_t parts = (inner + kColumns - 1) / kColumns;
    const int64_t of_part = length * std::min(kColumns, inner);
    const auto grain = static_cast<uint64_t>(std::max<int64_t>(1, kGrain / of_part));
    parallel_for(static_cast<uint64_t>(groups * parts), grain, [&](uint64_t begin, uint64_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const int64_t column = i % parts * kColumns;
        fn(i / parts * length * inner + column, std::min(kColumns, inner - column));
      }
    });
  }
};

}  // namespace assay::engine::cpu
