#pragma once

#include <vector>

#include "engine/layers/pool.h"

namespace assay::engine::cpu {

// The places of windows in a picture: `Indices` of MaxPool. Places of a window are counted line by line.
class PlaceTable {
 public:
  static constexpr int32_t kNone = -1;  // of a window that sees only padding, which has the first element's index

  PlaceTable(const PoolForm& geometry, bool is_column_major);

  // The first place of a window that is in the picture.
  int32_t first(int64_t y, int64_t x) const;
  // Finds the first places of all windows of a line.
  void find_first(int64_t y, int32_t* places) const;

  // Counted from the first element of the picture.
  int64_t index(int64_t y, int64_t x, int32_t place) const {
    return place == kNone ? 0 : y * step_y_ + x * step_x_ + offsets_[static_cast<size_t>(place)];
  }
  // Finds the indices of all windows of a line, from a first index on.
  void find_indices(int64_t y, const int32_t* places, int64_t first, int64_t* indices) const;

 private:
  int32_t kernel_width_;
  int64_t step_y_, step_x_;  // from a window to the next
  std::vector<int32_t> first_rows_, first_columns_;
  std::vector<int64_t> offsets_;  // by place, less the padding before the picture
};

}  // namespace assay::engine::cpu
