#pragma once

#include "ops/eval.h"
#include "ops/kernels/movement/places.h"

namespace assay::ops {

// Adds the row of a table that each id names: `row(number)` gives its elements, and ids[i] belongs to line i of the
// sums.
template <typename Row>
void add_named_rows(std::span<const int64_t> ids, const tensor::Shape& table, std::vector<double>& sums,
                    const Row& row) {
  const auto count = static_cast<uint64_t>(table[0]), width = static_cast<uint64_t>(table[1]);
  for (uint64_t line = 0; line < ids.size(); ++line) {
    if (ids[line] < 0) fail(ErrorCode::shape, "id {} is negative", ids[line]);
    const std::span<const double> numbers = row(checked_index(ids[line], count));
    for (uint64_t i = 0; i < width; ++i) sums[line * width + i] += numbers[i];
  }
}

// The place of each id in its line.
inline std::vector<int64_t> places_in_lines(const tensor::Shape& ids) {
  std::vector<int64_t> places(static_cast<uint64_t>(ids[0] * ids[1]));
  for (uint64_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i) % ids[1];
  return places;
}

// The sum of each line of a mask; zeros without one.
inline std::vector<int64_t> counts_of_mask(const Eval& node, uint32_t mask, const tensor::Shape& ids) {
  std::vector<int64_t> counts(static_cast<uint64_t>(ids[0]));
  if (!node.has(mask)) return counts;
  const std::vector<int64_t> given = node.integers_in(mask);
  for (uint64_t i = 0; i < given.size(); ++i) counts[i / static_cast<uint64_t>(ids[1])] += given[i];
  return counts;
}

}  // namespace assay::ops
