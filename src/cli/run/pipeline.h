#pragma once

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/run/request.h"

namespace assay::cli {

// Runs the models of a pipeline; returns the exit status. Error (usage) for options that are about one model.
int run_stages(const RunWords& words, const Arguments& arguments, Environment& environment);

}  // namespace assay::cli
