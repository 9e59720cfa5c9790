#pragma once

#include <vector>

#include "ir/model.h"
#include "match/pattern.h"

namespace assay::match {

// A match of a pattern in one graph.
struct Match {
  std::vector<ir::ValueId> inputs;   // in the pattern's order; invalid if only a missing node reads it
  std::vector<ir::ValueId> outputs;  // likewise
  std::vector<ir::NodeId> nodes;     // by pattern node; invalid: an optional one that is missing
};

// All matches among the nodes of a graph, in its order. No two share a node: among those that would, the later and
// larger one is taken. Results of matched nodes are used only by matched nodes, except for the pattern's outputs. The
// pattern must be checked.
std::vector<Match> find(const ir::Model& model, ir::GraphId graph, const Pattern& pattern);
// In the main graph.
std::vector<Match> find(const ir::Model& model, const Pattern& pattern);

}  // namespace assay::match
