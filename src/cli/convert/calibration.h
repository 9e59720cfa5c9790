#pragma once

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/convert.h"

namespace assay::cli {

// How the ranges of activations are found: `--calibration`, `--calibration-cache`, `--calibrate-with`, ...
OptionGroup calibration_group();
// Adds these options to the request. Error (usage) for invalid or contradictory values.
void read_calibration(const Arguments& arguments, tasks::Int8Request& request);

}  // namespace assay::cli
