#pragma once

#include <span>
#include <vector>

#include "match/repeats.h"
#include "passes/pass.h"

namespace assay::passes {

// The nodes of the main graph in order, as classes of nodes that are the same but for their operands. Nodes with
// bodies, random ones, calls and those of unknown operators are each a class of their own.
class NodeClasses {
 public:
  explicit NodeClasses(PassRun& run);
  const std::vector<ir::NodeId>& nodes() const { return nodes_; }
  std::span<const uint32_t> classes() const { return classes_; }
  size_t place_of(ir::NodeId node) const { return places_[node.index]; }

 private:
  bool is_same(ir::NodeId a, ir::NodeId b) const;
  uint64_t hash_of(ir::NodeId node) const;
  bool is_unique(ir::NodeId node) const;

  PassRun& run_;
  std::vector<ir::NodeId> nodes_;
  std::vector<uint32_t> classes_;
  std::vector<size_t> places_;  // by node
};

// Leaves of a repeat the occurrences that are wired like the first one.
void keep_same_wiring(const ir::Model& model, const NodeClasses& classes, match::Repeat& repeat);

}  // namespace assay::passes
