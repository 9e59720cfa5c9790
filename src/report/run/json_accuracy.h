#pragma once

#include <string>

#include "results/accuracy_results.h"

namespace assay::report {

// One JSON object of the schema assay/check-accuracy/1.
std::string accuracy_json(const std::string& path, const results::Rejudgement& judged);

// Saved results as one object of the schema assay/inspect-data/1 and the kind `accuracy`.
std::string accuracy_listing_json(const std::string& path, const results::AccuracyResults& comparisons,
                                  double load_seconds);

}  // namespace assay::report
