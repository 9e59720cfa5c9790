#pragma once

#include <optional>
#include <vector>

#include "compare/measuring/tile.h"
#include "results/tensor_stats.h"

namespace assay::compare {

struct Range {
  double least = 0;
  double greatest = 0;
};

// For each series ten equal bins over its range, one value's range being widened by a half to either side; empty where
// no range is given, or it is not finite or cannot be divided into ten.
std::vector<std::optional<results::Histogram>> histograms(const TileSource& source,
                                                          const std::vector<std::optional<Range>>& ranges);

}  // namespace assay::compare
