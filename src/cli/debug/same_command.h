#pragma once

#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/spec.h"

namespace assay::cli {

// `debug repeat MODEL --same`: runs a model on a backend, not a command.
std::vector<OptionGroup> same_groups();
int run_same(const Arguments& arguments, Environment& environment, uint64_t runs);

}  // namespace assay::cli
