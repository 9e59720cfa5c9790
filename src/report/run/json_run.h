#pragma once

#include <string>

#include "results/run_report.h"

namespace assay::report {

// The pairs of a report without runs, as one JSON object of the schema assay/inspect-diff/1 and the kind `data`.
std::string data_diff_json(const results::RunReport& report);
// One JSON object of the schema assay/run/1.
std::string run_json(const results::RunReport& report);

}  // namespace assay::report
