#pragma once

#include <string>

#include "ir/verify.h"
#include "ir/walk.h"

namespace assay::testing_support {

// The nodes from this id on that say they stand for themselves, as only nodes of a file do; empty: there are none.
inline std::string own_origins(const ir::Model& model, uint32_t first_made) {
  std::string text;
  for (const ir::NodeId node : ir::live_nodes(model)) {
    const bool is_own = model.origins().of(node) == std::vector<ir::NodeId>{node};
    if (node.index >= first_made && is_own) text += ir::describe(model, node) + ' ';
  }
  return text;
}

}  // namespace assay::testing_support
