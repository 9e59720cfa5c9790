#pragma once

#include <span>
#include <vector>

#include "compare/measuring/tile.h"
#include "results/tensor_stats.h"

namespace assay::compare {

// For each series the given quantiles, in [0, 1], linearly interpolated as NumPy does it; between a
// number and an infinity lies that infinity, between both infinities NaN. Exact, by selection: a sample tells between
// which numbers a quantile lies, a pass over all elements counts and keeps those between, and is repeated where the
// sample misled or too many were between. Memory is bounded. A series that is asked for has at least one element and no
// NaN.
std::vector<std::vector<double>> quantiles(const TileSource& source, const std::vector<std::vector<double>>& wanted);

// The numbers at two places, `first` and it or the next, of the sorted order. Reorders and shortens them.
std::pair<double, double> at_places(std::vector<double>& numbers, uint64_t first, uint64_t last);
// The number `share` of the way from one to the other.
double interpolate(double low, double high, double share);

inline constexpr double kPercentiles[] = {0.5, 0.9, 0.95, 0.99};
// From what quantiles() found for them; NaN where that is empty.
results::Percentiles as_percentiles(std::span<const double> found);

}  // namespace assay::compare
