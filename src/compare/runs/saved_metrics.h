#pragma once

#include "compare/options.h"
#include "results/accuracy_results.h"
#include "results/run_report.h"

namespace assay::compare {

// The metrics of a report's pairs, one comparison for each function.
results::AccuracyResults saved_metrics(const results::RunReport& report, const CompareOptions& options);

}  // namespace assay::compare
