#pragma once

#include "sweep/metrics/metric.h"

namespace assay::sweep {

// The metrics of each row over all its shards in their order, beside those of the reference on the same samples. The
// reference is the first column; `units` are in the plan's order.
std::vector<results::SweepScore> scores_of(const results::SweepPlan& plan,
                                           const std::vector<results::SweepUnit>& units);

}  // namespace assay::sweep
