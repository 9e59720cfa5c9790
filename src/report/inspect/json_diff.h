#pragma once

#include <string>

#include "results/model_diff.h"

namespace assay::report {

// The whole difference as one JSON object of the schema assay/inspect-diff/1.
std::string diff_json(const results::ModelDiff& diff);

}  // namespace assay::report
