#pragma once

#include <span>
#include <vector>

#include "ops/inference.h"

namespace assay::engine {

// How many values a layer of elementwise operators may hold: results, and what it takes from elsewhere.
inline constexpr size_t kMostChainValues = 23;

// That number for nodes that are computed element by element.
size_t count_chain_values(const ir::Model& model, const ops::Inference& inference, std::span<const ir::NodeId> nodes);

// Chains of elementwise operators whose result only one other chain of the same dims reads become part of that one;
// what they were before is left empty. Other groups stay as they are.
void join_chains(const ir::Model& model, const ops::Inference& inference, std::vector<std::vector<ir::NodeId>>& groups);

}  // namespace assay::engine
