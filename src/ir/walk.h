#pragma once

#include <cstdint>
#include <utility>
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

// All graphs that are part of the model: the main graph, bodies of its nodes, functions and bodies below them; outer
// graphs before inner ones.
inline std::vector<GraphId> live_graphs(const Model& model) {
  std::vector<GraphId> graphs = {model.main_graph()};
  for (const Function& function : model.functions()) graphs.push_back(function.body);
  if (graphs.size() == model.graph_slots()) return graphs;  // no node has a body
  for (size_t i = 0; i < graphs.size(); ++i) {
    for (const NodeId node : nodes(model, graphs[i])) {
      const std::vector<GraphId> bodies = model.bodies(model[node]);
      graphs.insert(graphs.end(), bodies.begin(), bodies.end());
    }
  }
  return graphs;
}

// The ids of one kind, ascending, for which a test holds. What is added on the way is not among them.
template <typename Id, typename Test>
class IdRange {
 public:
  class Iterator {
   public:
    Iterator(const IdRange* range, uint32_t at) : range_(range), at_(at) { skip(); }
    Id operator*() const { return Id{at_}; }
    Iterator& operator++() {
      ++at_;
      skip();
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    void skip() {
      while (at_ < range_->end_ && !range_->test_(Id{at_})) ++at_;
    }

    const IdRange* range_;
    uint32_t at_;
  };

  IdRange(uint32_t end, Test test) : end_(end), test_(std::move(test)) {}
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, end_}; }

 private:
  uint32_t end_;
  Test test_;
};

// All nodes of all graphs, without the hidden ones that hold the outputs of graphs.
inline auto live_nodes(const Model& model) {
  const auto is_live = [&model](NodeId node) { return model[node].alive && !model[node].is_outputs; };
  return IdRange<NodeId, decltype(is_live)>(model.node_slots(), is_live);
}

inline auto live_values(const Model& model) {
  const auto is_live = [&model](ValueId value) { return model[value].alive; };
  return IdRange<ValueId, decltype(is_live)>(model.value_slots(), is_live);
}

}  // namespace assay::ir
