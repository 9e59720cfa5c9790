#pragma once

#include "ir/model.h"

namespace assay::surgery {

// Removes what no output of the main graph needs: nodes, those in bodies too, and initializers. Inputs and functions
// stay.
void remove_dead(ir::Model& model);

}  // namespace assay::surgery
