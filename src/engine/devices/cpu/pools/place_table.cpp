#include "engine/devices/cpu/pools/place_table.h"

namespace assay::engine::cpu {
namespace {

// By window along an axis, the first of its places that is in the picture.
std::vector<int32_t> first_places(int64_t windows, int64_t size, int64_t kernel, int64_t stride, int64_t dilation,
                                  int64_t pad) {
  std::vector<int32_t> places;
  for (int64_t i = 0; i < windows; ++i) {
    const int64_t start = i * stride - pad;
    const int64_t place = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    const bool is_seen = place < kernel && start + place * dilation < size;
    places.push_back(is_seen ? static_cast<int32_t>(place) : PlaceTable::kNone);
  }
  return places;
}

}  // namespace

PlaceTable::PlaceTable(const PoolForm& g, bool is_column_major)
    : kernel_width_(static_cast<int32_t>(g.kernel_width)),
      first_rows_(first_places(g.out_height, g.height, g.kernel_height, g.stride_y, g.dilation_y, g.pad_top)),
      first_columns_(first_places(g.out_width, g.width, g.kernel_width, g.stride_x, g.dilation_x, g.pad_left)) {
  const int64_t line = is_column_major ? 1 : g.width;
  const int64_t column = is_column_major ? g.height : 1;
  step_y_ = g.stride_y * line;
  step_x_ = g.stride_x * column;
  for (int64_t y = 0; y < g.kernel_height; ++y) {
    for (int64_t x = 0; x < g.kernel_width; ++x)
      offsets_.push_back((y * g.dilation_y - g.pad_top) * line + (x * g.dilation_x - g.pad_left) * column);
  }
}

int32_t PlaceTable::first(int64_t y, int64_t x) const {
  const int32_t row = first_rows_[static_cast<size_t>(y)];
  const int32_t column = first_columns_[static_cast<size_t>(x)];
  return row == kNone || column == kNone ? kNone : row * kernel_width_ + column;
}

void PlaceTable::find_first(int64_t y, int32_t* places) const {
  const int32_t row = first_rows_[static_cast<size_t>(y)];
  const int32_t of_row = row * kernel_width_;
  for (const int32_t column : first_columns_) *places++ = row == kNone || column == kNone ? kNone : of_row + column;
}

void PlaceTable::find_indices(int64_t y, const int32_t* places, int64_t first, int64_t* indices) const {
  const int64_t* const offsets = offsets_.data();
  const auto width = static_cast<int64_t>(first_columns_.size());
  int64_t of_window = first + y * step_y_;
  for (int64_t x = 0; x < width; ++x, of_window += step_x_)
    indices[x] = places[x] == kNone ? first : of_window + offsets[places[x]];
}

}  // namespace assay::engine::cpu
