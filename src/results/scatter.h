#pragma once

#include <cstdint>
#include <vector>

namespace assay::results {

struct AxisRange {
  double least = 0;
  double greatest = 0;
};

// Counts of elements by place: rows from the greatest difference down, columns from the least magnitude up.
struct Density {
  AxisRange difference;
  std::vector<uint32_t> counts;  // row by row
};

// The differences of one output over the magnitudes of the reference; only elements that are finite in both are in it.
// The relative ones lie on a logarithmic axis: of them, those that are 0 are left out.
struct Scatter {
  uint32_t columns = 0;
  uint32_t rows = 0;
  AxisRange magnitude;
  Density absolute;
  Density relative;
  uint64_t left_out = 0;  // NaN and infinite ones
};

}  // namespace assay::results
