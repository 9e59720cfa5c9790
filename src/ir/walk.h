#pragma once

#include <vector>

#include "ir/model.h"

namespace assay::ir {

// Calls fn(ValueId) for every use of a value by the node or by a node in its bodies, however deep; operands that are
// left out are passed over. Values of the bodies themselves are among them.
template <typename Fn>
void for_each_operand(const Model& model, NodeId node, Fn&& fn) {
  for (const Use& use : model[node].operands) {
    if (use.value.valid()) fn(use.value);
  }
  std::vector<GraphId> pending = model.bodies(model[node]);
  while (!pending.empty()) {
    const GraphId body = pending.back();
    pending.pop_back();
    const auto visit = [&](NodeId inner) {
      for (const Use& use : model[inner].operands) {
        if (use.value.valid()) fn(use.value);
      }
    };
    for (const NodeId inner : nodes(model, body)) {
      visit(inner);
      const std::vector<GraphId> below = model.bodies(model[inner]);
      pending.insert(pending.end(), below.begin(), below.end());
    }
    visit(model[body].outputs_node);
  }
}

}  // namespace assay::ir
