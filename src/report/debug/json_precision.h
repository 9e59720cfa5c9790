#pragma once

#include <string>

#include "results/precision.h"

namespace assay::report {

// `assay/debug-precision/1`.
std::string precision_json(const results::PrecisionReport& report);

}  // namespace assay::report
