#pragma once

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/edit.h"

namespace assay::cli {

// Options for making hints for sharding.
OptionGroup shard_group();
// Error (usage) for contradictory options.
surgery::HintOptions hint_options(const Arguments& arguments);

}  // namespace assay::cli
