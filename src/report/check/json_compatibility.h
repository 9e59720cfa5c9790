#pragma once

#include <string>

#include "results/compatibility.h"

namespace assay::report {

// One JSON object of the schema assay/check-compatibility/1.
std::string compatibility_json(const results::CompatibilityReport& report);

}  // namespace assay::report
