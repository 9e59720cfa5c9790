#pragma once

#include <string>

#include "results/run_report.h"

namespace assay::report {

// One JSON object of the schema assay/run/1.
std::string run_json(const results::RunReport& report);

}  // namespace assay::report
