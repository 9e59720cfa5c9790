#pragma once

#include <utility>
#include <vector>

#include "ir/model.h"

namespace assay::match {

// Corresponding parts of two models. Ids are invalid if there is no counterpart.
struct Matching {
  std::vector<ir::NodeId> nodes_in_b;    // by node of A
  std::vector<ir::NodeId> nodes_in_a;    // by node of B
  std::vector<ir::ValueId> values_in_b;  // by value of A: inputs, results, weights
  std::vector<ir::ValueId> values_in_a;
  std::vector<std::pair<ir::GraphId, ir::GraphId>> graphs;  // main graphs first, a body after its graph
  // Inputs and outputs of the main graphs by position; inputs with a default are weights and not among them.
  std::vector<std::pair<size_t, size_t>> inputs;
  std::vector<std::pair<size_t, size_t>> outputs;

  void pair(ir::ValueId a, ir::ValueId b) {
    values_in_b[a.index] = b;
    values_in_a[b.index] = a;
  }
};

// Finds corresponding parts, whatever their names and order: by what nodes compute and what is computed from them, then
// by names, then by position between matched nodes. Nearly linear in the models' sizes.
Matching match_models(const ir::Model& a, const ir::Model& b);

}  // namespace assay::match
