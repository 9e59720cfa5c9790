#pragma once

#include "base/diagnostics.h"
#include "ir/model.h"
#include "ir/topological_sort.h"

namespace assay::ir {

// Reports what is wrong with the model as a graph: names defined twice or never, uses before the definition, cycles.
// A model without findings of severity error may be run and rewritten. Gives orders that nodes could stand in, for the
// graphs where they stand in another.
std::vector<GraphOrder> verify(const Model& model, Diagnostics& diagnostics);

// Checks that lists of uses, node lists, orders and back references agree; throws InternalError where they do not.
void check_structure(const Model& model);

// `node 'conv0' (Conv)`, or its place where it has no name: for messages.
std::string describe(const Model& model, NodeId node);

}  // namespace assay::ir
