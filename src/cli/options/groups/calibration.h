#pragma once

#include <optional>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/convert.h"

namespace assay::cli {

// Options for finding the ranges of activations: `--calibration`, `--calibration-cache`, `--calibrate-with`, ...
OptionGroup calibration_group();
// Adds these options to the request. Error (usage) for invalid or contradictory values.
void read_calibration(const Arguments& arguments, tasks::Int8Request& request);
// The integers that `--int8` or `--weights` asks of commands that run engines; nullopt: none.
std::optional<tasks::EngineIntegers> engine_integers(const Arguments& arguments);

}  // namespace assay::cli
