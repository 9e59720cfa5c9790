#pragma once

#include <string>

#include "results/accuracy_results.h"

namespace assay::report {

// Saved comparison results with the verdicts that they were given; of each pair the first iteration, or all.
std::string accuracy_text(const results::AccuracyResults& comparisons, bool all_iterations);

}  // namespace assay::report
