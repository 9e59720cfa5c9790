#pragma once

#include <string>

#include "debug/accuracy/walk.h"

namespace assay::debug {

// What the layer would have to be to give what its side gave: `with its first two inputs swapped`, `with axis=0`.
// Empty: nothing that was tried.
std::string matching_variant(const ir::Model& model, const Accused& accused);

}  // namespace assay::debug
