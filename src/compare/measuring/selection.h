#pragma once

#include <span>
#include <vector>

#include "compare/measuring/tile.h"
#include "results/tensor_stats.h"

namespace assay::compare {

// For each series the given quantiles, in [0, 1], linearly interpolated as NumPy does it; between a
// number and an infinity the result is that infinity, between both infinities NaN. Exact, by selection: a sample
// brackets each quantile, and a pass over all elements counts and keeps those in the bracket; it is repeated if the
// sample misled or the bracket held too many. Memory is bounded. A requested series must have at least one element and
// no NaN.
std::vector<std::vector<double>> quantiles(const TileSource& source, const std::vector<std::vector<double>>& wanted);

// The numbers at two places, `first` and it or the next, of the sorted order. Reorders and shortens them.
std::pair<double, double> at_places(std::vector<double>& numbers, uint64_t first, uint64_t last);
// The number `share` of the way from one to the other.
double interpolate(double low, double high, double share);

inline constexpr double kPercentiles[] = {0.5, 0.9, 0.95, 0.99};
// From the results of quantiles(); NaN if they are empty.
results::Percentiles as_percentiles(std::span<const double> found);

}  // namespace assay::compare
