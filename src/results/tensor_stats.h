#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace assay::results {

// Equal bins: bin i counts the elements in [edges[i], edges[i + 1]), the last one its upper edge too.
struct Histogram {
  std::vector<double> edges;
  std::vector<uint64_t> counts;
};

// Facts that sorting tells; each is NaN if there are no elements, or a NaN among them.
struct Percentiles {
  double median = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
};

// Statistics of the elements of a tensor, as numbers. NaN where there are no elements.
struct TensorStats {
  uint64_t count = 0;
  uint64_t nan_count = 0;
  uint64_t inf_count = 0;
  double mean = 0;
  double standard_deviation = 0;
  double variance = 0;  // 0 or infinite where it is not a double, unlike its root
  double least = 0;
  std::vector<int64_t> least_at;
  double greatest = 0;
  std::vector<int64_t> greatest_at;
  double mean_magnitude = 0;
  std::optional<Percentiles> percentiles;  // set if they were asked for
  std::optional<Histogram> histogram;      // set if it was asked for and the range is finite
};

}  // namespace assay::results
