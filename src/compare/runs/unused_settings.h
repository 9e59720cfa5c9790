#pragma once

#include <string>
#include <vector>

#include "compare/options.h"
#include "results/run_report.h"

namespace assay::compare {

// A line for each name in per-output thresholds and matches that no compared, missing or extra output has.
std::vector<std::string> unused_settings(const results::RunReport& report, const CompareOptions& options);

}  // namespace assay::compare
