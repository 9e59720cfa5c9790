#pragma once

#include <string>

#include "results/bisection.h"

namespace assay::report {

// `assay/debug-bisect/1`.
std::string bisection_json(const results::BisectionReport& report);

}  // namespace assay::report
