#pragma once

#include <string>

#include "results/accuracy_results.h"

namespace assay::report {

// One JSON object of the schema assay/check-accuracy/1.
std::string accuracy_json(const std::string& path, const results::Rejudgement& judged);

}  // namespace assay::report
