#pragma once

#include <unordered_map>
#include <vector>

#include "ir/ids.h"

namespace assay::ir {

// The origins of nodes and values that passes made, in terms of the model as it was imported. An imported thing is its
// own origin.
class Origins {
 public:
  // The source nodes that a node stands for, ascending.
  std::vector<NodeId> of(NodeId node) const;
  // The value that stands for a source value now: itself, or the one that took its place. It may have died since: then
  // it was fused away.
  ValueId current(ValueId source) const;

  // Merge rule: a new node stands for all that the nodes it replaces stood for.
  void merge(NodeId made, const std::vector<NodeId>& replaced);
  void replace(ValueId old_value, ValueId new_value) { replaced_by_[old_value] = new_value; }

 private:
  std::unordered_map<NodeId, std::vector<NodeId>> nodes_;
  std::unordered_map<ValueId, ValueId> replaced_by_;
};

}  // namespace assay::ir
