#pragma once

#include "base/log.h"
#include "cli/options/arguments.h"
#include "results/run_report.h"
#include "tasks/run.h"

namespace assay::cli {

// Prints a generation, and notes in the report the command that looks for the layer at its first divergence.
void tell_generation(results::RunReport& report, const tasks::RunRequest& request, const Arguments& arguments,
                     Log& log);

}  // namespace assay::cli
