#pragma once

#include "match/models/pairs.h"

namespace assay::match {

// Two graphs whose inputs, and whose surroundings if they are bodies, have already been matched.
struct GraphTask {
  ir::GraphId a;
  ir::GraphId b;
  OutputPairs outputs;
};

// Matches the nodes of two graphs.
void match_graph(const MatchSide& a, const MatchSide& b, const GraphTask& task, Matching& matching);

}  // namespace assay::match
