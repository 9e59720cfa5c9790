#pragma once

#include <string_view>
#include <vector>

#include "ir/model.h"

namespace assay::ir {

// The results with names that nodes of this name have in a graph: what is meant where a node is named and a value is
// expected.
inline std::vector<ValueId> named_results(const Model& model, GraphId graph, std::string_view name) {
  std::vector<ValueId> found;
  if (name.empty()) return found;
  for (const NodeId node : nodes(model, graph)) {
    if (model[node].name != name) continue;
    for (const ValueId result : model[node].results) {
      if (result && !model.text(model[result].name).empty()) found.push_back(result);
    }
  }
  return found;
}

}  // namespace assay::ir
