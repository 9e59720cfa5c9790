#pragma once

#include "inspect/node_match/node_match.h"

namespace assay::inspect {

// Pairs weights that stand at the same place of nodes that correspond: those of one name first, then those of one
// content, then the others; what is left over by name, then by content.
void match_weights(const ir::Model& a, const ir::Model& b, Matching& matching);

}  // namespace assay::inspect
