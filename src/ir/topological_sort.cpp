#include "ir/topological_sort.h"

#include <utility>

#include "ir/walk.h"

namespace assay::ir {

std::optional<GraphOrder> TopologicalSort::run(GraphId graph) {
  collect_needs(graph);
  order_.reserve(listed_.size());
  for (const NodeId node : listed_) {
    if (facts_[node.index].state == State::unseen && !place(node)) return std::nullopt;
  }
  return GraphOrder{graph, std::exchange(order_, {})};
}

// The search goes from node to node wherever they are, and would wait for each; here nothing waits for what was read
// before.
void TopologicalSort::collect_needs(GraphId graph) {
  listed_.clear();
  operands_.clear();
  for (const NodeId node : nodes(model_, graph)) {
    Facts& facts = facts_[node.index];
    facts.first_need = static_cast<uint32_t>(operands_.size());
    for_each_operand(model_, node, [&](ValueId value) { operands_.push_back(value); });
    facts.end_of_needs = static_cast<uint32_t>(operands_.size());
    listed_.push_back(node);
  }
  needs_.resize(operands_.size());
  for (size_t i = 0; i < operands_.size(); ++i) {
    const Value& value = model_[operands_[i]];
    needs_[i] = value.graph == graph ? value.producer : NodeId{};
  }
}

// Depth first: what a node needs is placed before it, everything else as it comes.
bool TopologicalSort::place(NodeId first) {
  open(first);
  while (!stack_.empty()) {
    Open& top = stack_.back();
    if (top.next_need == top.end_of_needs) {
      close();
      continue;
    }
    const NodeId next = needs_[top.next_need++];
    if (!next || facts_[next.index].state == State::done) continue;
    if (facts_[next.index].state == State::open) {
      note_cycle(next);
      return false;
    }
    open(next);
  }
  return true;
}

void TopologicalSort::open(NodeId node) {
  Facts& facts = facts_[node.index];
  facts.state = State::open;
  stack_.push_back({node, facts.first_need, facts.end_of_needs});
}

void TopologicalSort::close() {
  facts_[stack_.back().node.index].state = State::done;
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
}

}  // namespace assay::ir
