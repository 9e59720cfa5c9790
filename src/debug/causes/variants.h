#pragma once

#include <string>

#include "debug/causes/layer_trial.h"

namespace assay::debug {

// A change of the layer with which it gives what its side gave: `with its first two inputs swapped`, `with axis=0`,
// `with its constant `eps` = 0.05`, and only if none of these explains it, `as Abs`. Several changes that explain it
// as well are joined by `or`. Empty if nothing that is tried explains it.
std::string matching_variant(const ir::Model& model, const Accused& accused, const Observation& seen);

}  // namespace assay::debug
