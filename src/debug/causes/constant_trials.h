#pragma once

#include "debug/causes/layer_trial.h"

namespace assay::debug {

// Tries other numbers for the constants of a layer: single ones fitted to what was given, all times a factor, whole
// numbers one more or less.
void try_constants(const LayerTrial& trial, const Observation& seen, Explanations& found);
// Tries other numbers for an attribute that is a float.
void try_float(LayerTrial& trial, const Observation& seen, const std::pair<ir::Symbol, float>& attribute,
               Explanations& found);

}  // namespace assay::debug
