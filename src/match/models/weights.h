#pragma once

#include "match/models/match_models.h"

namespace assay::match {

// Pairs weights at the same operand of corresponding nodes: first those with the same name, then those with the same
// content, then the others; the rest by name, then by content.
void match_weights(const ir::Model& a, const ir::Model& b, Matching& matching);

}  // namespace assay::match
