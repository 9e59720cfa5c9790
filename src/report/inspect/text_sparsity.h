#pragma once

#include <string>

#include "results/sparsity.h"

namespace assay::report {

// `Found sparse tensor: w` or `Found non-sparse tensor: w`.
std::string sparsity_line(const results::WeightSparsity& weight);
// The sparsity in one line.
std::string sparsity_details(const results::WeightSparsity& weight);
std::string skipped_line(const results::SkippedWeight& skipped);

}  // namespace assay::report
