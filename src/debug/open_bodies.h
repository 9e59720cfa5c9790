#pragma once

#include <optional>
#include <string>
#include <vector>

#include "debug/subgraph.h"

namespace assay::debug {

// The model with the nodes of functions, of branches that were taken, and of loops, as often as they ran, in the places
// of the nodes that hold them, as far as the values of a run tell and the result stays small.
struct Opened {
  ir::Model model;
  std::vector<std::string> nodes;  // that are gone
};
// True if a node has a body, or calls a function of the model.
bool holds_nodes(const ir::Model& model, ir::NodeId node);
// Nothing: there is nothing to open.
std::optional<Opened> open_bodies(const ir::Model& model, const ValueOracle& value_of);

}  // namespace assay::debug
