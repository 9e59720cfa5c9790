#pragma once

#include <cstddef>
#include <span>

namespace assay::engine::cpu {

// Rows of float32, each with a weight, for one instruction set.
struct WeightedRows {
  const char* name;
  // Sums the rows, or adds them to `out`. There may be no rows.
  void (*sum)(const float* const* rows, const float* weights, size_t count, bool adds, float* out, size_t length);
  // The greatest product in each place of four rows, or of them and what is there; the first one stays where numbers do
  // not compare.
  void (*greatest)(const float* const* rows, const float* weights, bool keeps, float* out, size_t length);
};

// The best that this processor has.
const WeightedRows& weighted_rows();
// All that this processor has, for tests.
std::span<const WeightedRows* const> all_weighted_rows();

}  // namespace assay::engine::cpu
