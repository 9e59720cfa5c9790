#pragma once

#include "debug/causes/layer_trial.h"

namespace assay::debug {

// `its inputs are rounded to bfloat16`: a type narrower than the declared one, in which the layer, computed with
// inputs, constants or results rounded to it, is off from the exact numbers element by element as its side is. Empty if
// there is none.
std::string matching_type(const LayerTrial& trial, const Observation& seen);

// True if a candidate is off from the exact numbers as the side is, element by element.
bool is_off_alike(const Observation& seen, const Numbers& candidate);

}  // namespace assay::debug
