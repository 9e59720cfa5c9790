#pragma once

#include <string>

#include "results/accuracy_results.h"

namespace assay::report {

// Saved comparison results with their verdicts; the first iteration of each pair, or all.
std::string accuracy_text(const results::AccuracyResults& comparisons, bool all_iterations);

}  // namespace assay::report
