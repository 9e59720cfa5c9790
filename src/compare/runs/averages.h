#pragma once

#include "compare/options.h"
#include "results/run_report.h"

namespace assay::compare {

// Each output's metrics averaged over the iterations of a pair, and judged again; NaN stays NaN.
results::PairAverages average(const results::PairComparison& pair);
// Error (usage) for `elemwise` and `indices`, which have no average, and for --fail-fast.
void check_averages(const CompareOptions& options);

}  // namespace assay::compare
