#pragma once

#include <string>
#include <vector>

#include "results/run_report.h"

namespace assay::report {

// `{x [dtype=float32, shape=(1, 3)],` and so on, one value a line.
std::string values_text(const std::vector<results::RunValue>& values);
// `mean=0.35995, std-dev=0.25784, …, min=0.0001 at (0, 1), …`
std::string stats_text(const results::TensorStats& stats);

}  // namespace assay::report
