#pragma once

#include <span>
#include <vector>

#include "ops/inference.h"

namespace assay::engine {

// Number of values that a layer of these elementwise nodes holds: results, and operands from elsewhere.
size_t count_chain_values(const ir::Model& model, const ops::Inference& inference, std::span<const ir::NodeId> nodes);

// Chains of elementwise operators whose result only one other chain of the same dims reads become part of that one;
// what they were before is left empty. Other groups stay as they are. A chain holds `most_values` at most.
void join_chains(const ir::Model& model, const ops::Inference& inference, size_t most_values,
                 std::vector<std::vector<ir::NodeId>>& groups);

}  // namespace assay::engine
