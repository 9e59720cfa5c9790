#pragma once

#include "debug/causes/layer_trial.h"

namespace assay::debug {

// Tries other ways to round to whole numbers, of Round, QuantizeLinear, and Cast to integers.
void try_roundings(const LayerTrial& trial, Explanations& found);

}  // namespace assay::debug
