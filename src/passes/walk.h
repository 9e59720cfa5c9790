#pragma once

#include <vector>

#include "ir/model.h"

namespace assay::passes {

// All graphs that are part of the model: the main graph, bodies of its nodes, functions and bodies below them; outer
// graphs before inner ones.
inline std::vector<ir::GraphId> live_graphs(const ir::Model& model) {
  std::vector<ir::GraphId> graphs = {model.main_graph()};
  for (const ir::Function& function : model.functions()) graphs.push_back(function.body);
  if (graphs.size() == model.graph_slots()) return graphs;  // no node has a body
  for (size_t i = 0; i < graphs.size(); ++i) {
    for (const ir::NodeId node : ir::nodes(model, graphs[i])) {
      const std::vector<ir::GraphId> bodies = model.bodies(model[node]);
      graphs.insert(graphs.end(), bodies.begin(), bodies.end());
    }
  }
  return graphs;
}

}  // namespace assay::passes
