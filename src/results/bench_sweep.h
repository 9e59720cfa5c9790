#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/bench.h"

namespace assay::results {

// One measurement for several shapes of the inputs.
struct BenchSweep {
  struct Point {
    std::string label;      // `batch 4`, `x:1x3`
    uint64_t elements = 0;  // of all inputs
    Bench bench;
    std::optional<double> growth;  // of the median, as a power of the number of elements, since the point before
  };
  std::vector<Point> points;
};

}  // namespace assay::results
