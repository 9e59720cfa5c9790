#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/model.h"

namespace assay::match {

// Identities of the inputs and outputs of the main graph, by position: the same number on both sides means that they
// correspond.
struct InterfaceSeeds {
  std::vector<uint64_t> inputs;
  std::vector<uint64_t> outputs;
};

// Each node by itself and by its surroundings, by node id; names and the order of nodes are ignored.
struct NodeHashes {
  std::vector<uint64_t> local;     // operator, attributes, bodies, types of weights
  std::vector<uint64_t> content;   // local, and what its weights hold
  std::vector<uint64_t> forward;   // content, and all that it is computed from
  std::vector<uint64_t> backward;  // local, and all that is computed from it
};

// All nodes of all graphs, in time linear in the model's size.
NodeHashes hash_nodes(const ir::Model& model, const InterfaceSeeds& seeds);

}  // namespace assay::match
