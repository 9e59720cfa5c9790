#pragma once

#include "compare/options.h"
#include "results/run_report.h"

namespace assay::compare {

// Each output's metrics averaged over the iterations of a pair, and judged again; NaN is kept.
results::PairAverages average(const results::PairComparison& pair);
// Error (usage) for `elemwise` and `indices`, which have no average, and where the first failure ends the run.
void check_averages(const CompareOptions& options);

}  // namespace assay::compare
