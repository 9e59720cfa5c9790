#pragma once

#include <vector>

#include "ir/ids.h"

namespace assay::ir {

// Edits of a model, for readers that keep facts about it.
struct EditLog {
  std::vector<NodeId> nodes;    // made, changed or erased, each once or more
  std::vector<ValueId> values;  // with another declared type or default, and new inputs
  bool has_all = false;         // an order, a version, a function, a tensor: facts about everything may have changed

  bool is_empty() const { return nodes.empty() && values.empty() && !has_all; }
  void clear() { *this = {}; }
};

}  // namespace assay::ir
