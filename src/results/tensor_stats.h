#pragma once

#include <cstdint>
#include <vector>

namespace assay::results {

// Statistics of the elements of a tensor, as numbers. NaN where there are no elements.
struct TensorStats {
  uint64_t count = 0;
  uint64_t nan_count = 0;
  uint64_t inf_count = 0;
  double mean = 0;
  double variance = 0;
  double median = 0;
  double least = 0;
  std::vector<int64_t> least_at;
  double greatest = 0;
  std::vector<int64_t> greatest_at;
  double mean_magnitude = 0;
};

}  // namespace assay::results
