#pragma once

#include <vector>

#include "passes/outline/outline_options.h"
#include "passes/pass.h"

namespace assay::passes {

// Parts of the main graph that are the same but for what they are given: runs of `length` neighbouring nodes.
struct Repeat {
  std::vector<size_t> starts;  // of each occurrence, among the nodes
  size_t length = 0;
};

// The nodes of the main graph in order, as classes of nodes that are the same but for their operands. Nodes with
// bodies, random ones, calls and those of unknown operators are each a class of their own.
class NodeClasses {
 public:
  explicit NodeClasses(PassRun& run);
  const std::vector<ir::NodeId>& nodes() const { return nodes_; }
  uint32_t operator[](size_t place) const { return classes_[place]; }
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

// Repeats that save most nodes first. Their classes are the same; their wiring need not be.
std::vector<Repeat> find_repeats(const NodeClasses& classes, const OutlineOptions& options);
// Leaves of a repeat the occurrences that are wired like the first one.
void keep_same_wiring(const ir::Model& model, const NodeClasses& classes, Repeat& repeat);

}  // namespace assay::passes
