#pragma once

#include <string>
#include <vector>

#include "results/run_report.h"

namespace assay::report {

// `{x [dtype=float32, shape=(1, 3)],` and so on, one value per line; the first `most`.
std::string values_text(const std::vector<results::RunValue>& values, size_t most);

// ``h`: absent, part of layer `L` (fused)`, one value per line; the first `most`.
std::string answers_text(const std::vector<results::ValueAnswer>& answers, size_t most);

}  // namespace assay::report
