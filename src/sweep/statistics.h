#pragma once

#include "sweep/metrics/metric.h"

namespace assay::sweep {

struct Interval {
  double value = 0;
  double low = 0;
  double high = 0;
};

// The score with the 2.5 and 97.5 percentiles of 1,000 sets of samples drawn with repetition, always by the same seed.
Interval score_with_interval(const Metric& metric, const results::Evidence& rows);
// Likewise of the score of `a` minus that of `b`, whose rows are of the same samples.
Interval difference_with_interval(const Metric& metric, const results::Evidence& a, const results::Evidence& b);

// The two-sided sign test: how likely it is that at least this many of the samples in which the two differ go one way.
// Rows are hits and trials. 1 where they differ nowhere.
double sign_test(const results::Evidence& a, const results::Evidence& b);

}  // namespace assay::sweep
