#pragma once

#include <set>
#include <vector>

#include "ops/inference.h"

namespace assay::engine {

// True if a kernel for the node is worth planning what is around it for new sizes.
bool has_work(const ops::Inference& inference, ir::NodeId node);

// A node of the main graph, or several that are one part.
struct Unit {
  std::vector<ir::NodeId> nodes;
  bool is_part = false;
};

// The nodes of the main graph in an order in which they can run. Where sizes are not known, nodes between those that
// decide sizes are a part, if there is work in it: nothing leaves a part and comes back. `kept` nodes stay by
// themselves.
std::vector<Unit> find_units(const ir::Model& model, const ops::Inference& inference, const std::set<ir::NodeId>& kept);

}  // namespace assay::engine
