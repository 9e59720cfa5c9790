#pragma once

#include <functional>

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "tasks/debug.h"

namespace assay::cli {

// Runs a loop and prints its summary, between the lines that begin and end a command. The status is that of a loop that
// ended as told, whatever its iterations did.
int run_loop(const Arguments& arguments, Environment& environment,
             const std::function<results::DebugReport(tasks::Observer&)>& task);

}  // namespace assay::cli
