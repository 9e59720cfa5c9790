#pragma once

#include "ir/edit.h"

namespace assay::surgery {

// Removes nodes (also in bodies) and initializers that no output of the main graph needs. Inputs and functions are
// kept.
void remove_dead(ir::Model& model);
// Removes them by an Edit of the model that somebody follows.
void remove_dead(ir::Model& model, ir::Edit& edit);

}  // namespace assay::surgery
