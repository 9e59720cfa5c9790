#pragma once

#include <string>

#include "results/value_ranges.h"

namespace assay::report {

// `assay/debug-range/1`.
std::string ranges_json(const results::RangeReport& report);

}  // namespace assay::report
