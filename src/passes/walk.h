#pragma once

#include <vector>

#include "ir/model.h"

namespace assay::passes {

// All graphs that are part of the model: the main graph, bodies of its nodes, functions and bodies below them; outer
// graphs before inner ones.
inline std::vector<ir::GraphId> live_graphs(const ir::Model& model) {
  std::vector<ir::GraphId> graphs = {model.main_graph()};
  for (const ir::Function& function : model.functions()) graphs.push_back(function.body);
  for (size_t i = 0; i < graphs.size(); ++i) {
    for (const ir::NodeId node : ir::nodes(model, graphs[i])) {
      const std::vector<ir::GraphId> bodies = model.bodies(model[node]);
      graphs.insert(graphs.end(), bodies.begin(), bodies.end());
    }
  }
  return graphs;
}

// Calls fn(ValueId) for every use of a value by the node or by a node in its bodies, however deep; operands that are
// left out are passed over. Values of the bodies themselves are among them.
template <typename Fn>
void for_each_operand(const ir::Model& model, ir::NodeId node, Fn&& fn) {
  for (const ir::Use& use : model[node].operands) {
    if (use.value.valid()) fn(use.value);
  }
  std::vector<ir::GraphId> pending = model.bodies(model[node]);
  while (!pending.empty()) {
    const ir::GraphId body = pending.back();
    pending.pop_back();
    const auto visit = [&](ir::NodeId inner) {
      for (const ir::Use& use : model[inner].operands) {
        if (use.value.valid()) fn(use.value);
      }
    };
    for (const ir::NodeId inner : ir::nodes(model, body)) {
      visit(inner);
      const std::vector<ir::GraphId> below = model.bodies(model[inner]);
      pending.insert(pending.end(), below.begin(), below.end());
    }
    visit(model[body].outputs_node);
  }
}

}  // namespace assay::passes
