#include "ir/topological_sort.h"

#include <algorithm>
#include <utility>

#include "ir/walk.h"

namespace assay::ir {

std::optional<GraphOrder> TopologicalSort::run(GraphId graph) {
  order_.reserve(model_[graph].node_count);
  for (const NodeId node : nodes(model_, graph)) {
    if (states_[node.index] == State::unseen && !place(node)) return std::nullopt;
  }
  return GraphOrder{graph, std::exchange(order_, {})};
}

// Depth first: what a node needs is placed before it, everything else as it comes.
bool TopologicalSort::place(NodeId first) {
  open(first);
  while (!stack_.empty()) {
    if (needs_.size() == stack_.back().first_need) {
      close();
      continue;
    }
    const NodeId next = needs_.back();
    needs_.pop_back();
    if (states_[next.index] == State::open) {
      note_cycle(next);
      return false;
    }
    if (states_[next.index] == State::unseen) open(next);
  }
  return true;
}

void TopologicalSort::open(NodeId node) {
  states_[node.index] = State::open;
  stack_.push_back({node, needs_.size()});
  const GraphId graph = model_[node].graph;
  for_each_operand(model_, node, [&](ValueId value) {
    const NodeId producer = model_[value].producer;
    const bool is_here = producer.valid() && model_[value].graph == graph;
    if (is_here && states_[producer.index] != State::done) needs_.push_back(producer);
  });
  std::reverse(needs_.begin() + static_cast<ptrdiff_t>(stack_.back().first_need), needs_.end());
}

void TopologicalSort::close() {
  states_[stack_.back().node.index] = State::done;
  order_.push_back(stack_.back().node);
  stack_.pop_back();
}

void TopologicalSort::note_cycle(NodeId node) {
  cycle_.clear();
  do {
    cycle_.push_back(stack_.back().node);
    stack_.pop_back();
  } while (cycle_.back() != node);
  order_.clear();
  stack_.clear();
  needs_.clear();
}

}  // namespace assay::ir
