#pragma once

#include "ir/model.h"

namespace assay::surgery {

// Removes nodes (also in bodies) and initializers that no output of the main graph needs. Inputs and functions are
// kept.
void remove_dead(ir::Model& model);

}  // namespace assay::surgery
