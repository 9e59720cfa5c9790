#include "engine/devices/cpu/tiles/row_groups.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace assay::engine::cpu {

RowGroups::RowGroups(int64_t rows, int64_t block_rows, FunctionRef<uint64_t(int64_t row)> steps_of)
    : block_rows_(block_rows), order_(static_cast<size_t>(rows)) {
  for (int64_t row = 0; row < rows; row += block_rows) add_block(row, std::min(row + block_rows, rows), steps_of);
  first_groups_.push_back(groups_.size());
}

void RowGroups::add_block(int64_t begin, int64_t end, FunctionRef<uint64_t(int64_t row)> steps_of) {
  first_groups_.push_back(groups_.size());
  const std::span<uint16_t> order =
      std::span(order_).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  std::iota(order.begin(), order.end(), uint16_t{0});
  std::vector<uint64_t> steps;
  for (int64_t row = begin; row < end; ++row) steps.push_back(steps_of(row));
  std::ranges::stable_sort(order, std::greater(), [&](uint16_t row) { return steps[row]; });
  for (size_t i = 0; i < order.size(); ++i) {
    const uint64_t read = steps[order[i]];
    const auto at = static_cast<int64_t>(i);
    if (i == 0 || groups_.back().steps != read) groups_.push_back({at, at, read});
    groups_.back().end = at + 1;
  }
}

std::span<const RowGroups::Group> RowGroups::of_block(int64_t row) const {
  const auto block = static_cast<size_t>(row / block_rows_);
  return std::span(groups_).subspan(first_groups_[block], first_groups_[block + 1] - first_groups_[block]);
}

}  // namespace assay::engine::cpu
