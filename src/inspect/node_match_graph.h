#pragma once

#include "inspect/node_match.h"
#include "inspect/node_match_hashes.h"

namespace assay::inspect {

struct MatchSide {
  const ir::Model& model;
  const NodeHashes& hashes;
};

// Matches the nodes of two graphs whose inputs, and whose surroundings if they are bodies, are matched already.
// `outputs` are the outputs that correspond, by position.
void match_graph(const MatchSide& a, const MatchSide& b, std::pair<ir::GraphId, ir::GraphId> graphs,
                 const std::vector<std::pair<size_t, size_t>>& outputs, Matching& matching);

}  // namespace assay::inspect
