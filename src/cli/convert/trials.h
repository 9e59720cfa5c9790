#pragma once

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/convert.h"

namespace assay::cli {

// `--sensitivity` and `--budget` of the conversions that can leave layers out.
OptionGroup trials_group();
// Error (usage) for another budget than they have.
convert::LayerTrials layer_trials(const Arguments& arguments);
// Error (usage) where one of them is given without a conversion that has it.
void check_trials(const Arguments& arguments);

}  // namespace assay::cli
