#pragma once

#include "cli/options/arguments.h"
#include "tasks/sweep.h"

namespace assay::cli {

// Options of a sweep that no other command has.
std::vector<OptionGroup> sweep_groups();
// The request that the options make; every value is checked. `words`: those that made the arguments.
tasks::SweepRequest sweep_request(const Arguments& arguments, std::vector<std::string> words);

}  // namespace assay::cli
