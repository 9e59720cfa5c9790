#pragma once

#include <string>

#include "results/same.h"

namespace assay::report {

// `assay/debug-same/1`.
std::string same_json(const results::SameReport& report);

}  // namespace assay::report
