#pragma once

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "results/run_report.h"

namespace assay::cli {

// Writes the report for --report and --junit.
void write_reports(const results::RunReport& report, const Arguments& arguments, Environment& environment);

}  // namespace assay::cli
