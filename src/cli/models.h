#pragma once

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"

namespace assay::cli {

// Runs a command; one that takes models, once for each, in order, where several or a folder are named. What one of them
// fails by ends only its own turn. The exit status is that of the worst: a difference or finding (1), then wrong input
// (2), then what could not be done (3).
int run_on_models(const Command& command, const Arguments& arguments, Environment& environment);

}  // namespace assay::cli
