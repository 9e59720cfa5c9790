#pragma once

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "results/run_report.h"
#include "tasks/load.h"

namespace assay::cli {

// The next thing to try if a fixed tolerance has failed that nobody has chosen; empty: nothing.
std::string_view tolerance_hint(const results::RunReport& report, const Arguments& arguments);

// Writes the report for --report and --junit.
void write_reports(const results::RunReport& report, const tasks::ModelSource& model, const Arguments& arguments,
                   Environment& environment);

}  // namespace assay::cli
