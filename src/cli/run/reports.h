#pragma once

#include "cli/environment.h"
#include "cli/run/request.h"
#include "results/run_report.h"

namespace assay::cli {

// The report in the forms that --report and --junit ask for.
void write_reports(const results::RunReport& report, const RunWords& words, Environment& environment);

}  // namespace assay::cli
