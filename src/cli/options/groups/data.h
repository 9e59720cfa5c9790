#pragma once

#include "cli/options/arguments.h"
#include "cli/options/groups/model.h"
#include "cli/options/spec.h"
#include "exec/generated_inputs.h"

namespace assay::cli {

// How inputs are made up: `--seed`, `--input-shapes`, `--val-range`, ...
OptionGroup data_group();
exec::GenerateOptions generate_options(const Arguments& arguments);

}  // namespace assay::cli
