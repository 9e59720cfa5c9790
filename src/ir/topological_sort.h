#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/large_memory.h"
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
  explicit TopologicalSort(const Model& model) : model_(model), facts_(model.node_slots()) {}

  // Once for each graph. Nothing where a node depends on itself: then cycle() says through which nodes.
  std::optional<GraphOrder> run(GraphId graph);
  const std::vector<NodeId>& cycle() const { return cycle_; }  // each needs the one before

 private:
  enum class State : uint32_t { unseen, open, done };
  struct Facts {  // of a node
    State state = State::unseen;
    uint32_t first_need = 0;  // in needs_
    uint32_t end_of_needs = 0;
  };
  struct Open {
    NodeId node;
    uint32_t next_need = 0;
    uint32_t end_of_needs = 0;
  };

  void collect_needs(GraphId graph);
  bool place(NodeId first);
  void open(NodeId node);
  void close();
  void note_cycle(NodeId node);

  const Model& model_;
  LargeVector<Facts> facts_;    // by node
  LargeVector<NodeId> listed_;  // the graph's nodes as they stand
  LargeVector<ValueId> operands_;
  LargeVector<NodeId> needs_;  // by operand: what makes it; invalid where that is not a node of the graph
  std::vector<Open> stack_;
  std::vector<NodeId> order_;
  std::vector<NodeId> cycle_;
};

}  // namespace assay::ir
