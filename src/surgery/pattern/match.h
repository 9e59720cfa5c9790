#pragma once

#include <vector>

#include "ir/model.h"
#include "surgery/pattern/pattern.h"

namespace assay::surgery {

// A match of a pattern in the main graph.
struct Match {
  std::vector<ir::ValueId> inputs;   // in the pattern's order; invalid if only a missing node reads it
  std::vector<ir::ValueId> outputs;  // likewise
  std::vector<ir::NodeId> nodes;     // by pattern node; invalid: an optional one that is missing
};

// All matches, in the order of the graph. No two share a node: among those that would, the later and larger one is
// taken. Results of matched nodes are used only by matched nodes, except for the pattern's outputs. The pattern must be
// checked.
std::vector<Match> find_matches(const ir::Model& model, const Pattern& pattern);

// The match by names, with the attributes that the plugin gets.
results::PluginInstance instance_of(const ir::Model& model, const Pattern& pattern, const Match& match);

}  // namespace assay::surgery
