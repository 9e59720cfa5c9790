#pragma once

#include <string>
#include <vector>

#include "results/tensor_stats.h"

namespace assay::report {

// `mean=0.35995, std-dev=0.25784, …, min=0.0001 at (0, 1), …, p99=0.7`. For booleans, the median is the only percentile
// shown.
std::string stats_text(const results::TensorStats& stats, bool is_boolean = false);
// The bins as a table with bars of at most 40 characters, without a final line break.
std::string histogram_text(const results::Histogram& histogram);
// `(1, 3)`, `(3,)`, `()`
std::string tuple_text(const std::vector<int64_t>& numbers);

}  // namespace assay::report
