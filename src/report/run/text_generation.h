#pragma once

#include "base/log.h"
#include "results/run_report.h"

namespace assay::report {

// Names of the runs as columns of tables: `onnxrt`, `engine (2)`.
std::vector<std::string> side_labels(const results::RunReport& report);
// Prints rules, tokens and errors step by step, and the verdict; without `is_full` the first steps, the last ones and
// those around the first divergence. `more` follows a list that was cut.
void print_generation(const results::RunReport& report, Log& log, bool is_full, std::string_view more);

// The verdict in a line.
std::string generation_line(const results::RunReport& report);

}  // namespace assay::report
