#pragma once

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"

namespace assay::cli {

// The option that names environments, and the search in them; gives the exit status.
OptionRow runtimes_row();
int run_runtimes(const Arguments& arguments, Environment& environment);

}  // namespace assay::cli
