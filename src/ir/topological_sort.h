#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/model.h"

namespace assay::ir {

// The nodes of a graph in an order that they could stand in.
struct GraphOrder {
  GraphId graph;
  std::vector<NodeId> nodes;
};

// Finds orders in which every node stands behind those that make its operands, and what its bodies capture. Nodes that
// stand right already keep their order among each other.
class TopologicalSort {
 public:
  explicit TopologicalSort(const Model& model) : model_(model), states_(model.node_slots(), State::unseen) {}

  // Once for each graph. Nothing where a node depends on itself: then cycle() says through which nodes.
  std::optional<GraphOrder> run(GraphId graph);
  const std::vector<NodeId>& cycle() const { return cycle_; }  // each needs the one before

 private:
  enum class State : uint8_t { unseen, open, done };
  struct Open {
    NodeId node;
    size_t first_need;  // in needs_
  };

  bool place(NodeId first);
  void open(NodeId node);
  void close();
  void note_cycle(NodeId node);

  const Model& model_;
  std::vector<State> states_;  // by node
  std::vector<Open> stack_;
  std::vector<NodeId> needs_;  // of the nodes on the stack, still to be looked at
  std::vector<NodeId> order_;
  std::vector<NodeId> cycle_;
};

}  // namespace assay::ir
