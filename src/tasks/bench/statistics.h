#pragma once

#include <optional>
#include <span>
#include <vector>

#include "results/bench.h"

namespace assay::tasks {

// The p-th percentile (0 to 100) of sorted numbers by nearest rank: the element at n - 1 - floor((1 - p/100) n).
double percentile(std::span<const double> sorted, double p);
// The middle number, or the mean of the two middle ones.
double median(std::span<const double> sorted);

// Statistics of numbers in the order in which they were measured; at least one.
results::Distribution distribution(std::span<const double> samples, std::span<const double> percentiles);

// The time of `rival` in parts of that of `subject`. Both were measured side by side in turns, so the intervals come
// from the ratios of blocks that were measured at the same time.
results::BenchRatio ratio(std::span<const double> subject, std::span<const double> rival);

}  // namespace assay::tasks
