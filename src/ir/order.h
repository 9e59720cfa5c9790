#pragma once

#include "ir/model.h"

namespace assay::ir {

// Gives `node`, which stands in a list already, a label between those of its neighbours. Labels of others move only
// where there is no room, and then the smallest sparse range around it is spread out: O(log n) amortised.
void assign_order(Pool<NodeId, Node>& nodes, NodeId node);

}  // namespace assay::ir
