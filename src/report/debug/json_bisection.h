#pragma once

#include <string>

#include "results/bisection.h"

namespace assay::report {

// `assay/debug-bisect/1`.
std::string bisection_json(const results::BisectionReport& report);

// `assay/debug-tactics/1`.
std::string tactics_json(const results::TacticReport& report);

}  // namespace assay::report
