#pragma once

#include "match/models/hashes.h"
#include "match/models/match_models.h"

namespace assay::match {

// The main graph's inputs and outputs; an input with a default is a weight and appears as an invalid id.
std::vector<ir::ValueId> inputs_of(const ir::Model& model);
std::vector<ir::ValueId> outputs_of(const ir::Model& model);

// Pairs the inputs and outputs of the main graphs: by name, the others of one type in their order.
void match_interfaces(const ir::Model& a, const ir::Model& b, Matching& matching);

// Seeds for both sides: one number for each pair, a unique number for everything else.
std::pair<InterfaceSeeds, InterfaceSeeds> interface_seeds(const ir::Model& a, const ir::Model& b,
                                                          const Matching& matching);

}  // namespace assay::match
