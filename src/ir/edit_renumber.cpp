#include <algorithm>
#include <vector>

#include "ir/edit.h"

namespace assay::ir {
namespace {

template <typename IdType>
LargeVector<IdType> all_ids(uint32_t count) {
  LargeVector<IdType> ids(count);
  for (uint32_t i = 0; i < count; ++i) ids[i] = IdType{i};
  return ids;
}

// By old id, given by new id.
template <typename IdType>
LargeVector<IdType> inverse(std::span<const IdType> old_ids) {
  LargeVector<IdType> new_ids(old_ids.size());
  for (uint32_t i = 0; i < old_ids.size(); ++i) new_ids[old_ids[i].index] = IdType{i};
  return new_ids;
}

// Puts the ids of `order` into the places that they themselves are, given in ascending order.
template <typename IdType>
void permute(std::span<const IdType> order, std::span<const IdType> places, LargeVector<IdType>& ids) {
  ASSAY_CHECK(order.size() == places.size() && std::ranges::is_sorted(places));
  for (size_t i = 0; i < order.size(); ++i) ids[places[i].index] = order[i];
}

std::vector<ValueId> results_of(const Model& model, std::span<const NodeId> nodes) {
  std::vector<ValueId> results;
  results.reserve(nodes.size());
  for (const NodeId node : nodes) {
    std::ranges::copy_if(model[node].results, std::back_inserter(results), &ValueId::valid);
  }
  return results;
}

// Every item becomes what another one was, along the cycles of the permutation: a second pool would cost more than all
// that is done here.
template <typename IdType, typename T>
void permute(std::span<const IdType> old_ids, Pool<IdType, T>& pool) {
  std::vector<bool> done(old_ids.size());
  for (uint32_t start = 0; start < old_ids.size(); ++start) {
    if (done[start] || old_ids[start].index == start) continue;
    const T first = pool[IdType{start}];
    IdType id{start};
    for (IdType old = old_ids[start]; old.index != start; old = old_ids[id.index]) {
      pool[id] = pool[old];
      done[id.index] = true;
      id = old;
    }
    pool[id] = first;
    done[id.index] = true;
  }
}

template <typename IdType>
void map(IdType& id, std::span<const IdType> new_ids) {
  if (id) id = new_ids[id.index];
}

}  // namespace

void Edit::renumber(std::span<const GraphOrder> orders) {
  ASSAY_CHECK(importing_);
  if (orders.empty()) return;
  LargeVector<NodeId> old_nodes = all_ids<NodeId>(model_.node_slots());
  LargeVector<ValueId> old_values = all_ids<ValueId>(model_.value_slots());
  for (const GraphOrder& order : orders) {
    std::vector<NodeId> places;  // import gave ids as nodes came
    for (const NodeId node : nodes(model_, order.graph)) places.push_back(node);
    permute<NodeId>(order.nodes, places, old_nodes);
    permute<ValueId>(results_of(model_, order.nodes), results_of(model_, places), old_values);
  }
  const LargeVector<NodeId> new_nodes = inverse<NodeId>(old_nodes);
  permute_values(new_nodes, old_values);
  permute_nodes(old_nodes, old_values);
  for (Graph& graph : model_.graphs_) {
    for (NodeId* const node : {&graph.parent, &graph.first, &graph.last}) map<NodeId>(*node, new_nodes);
  }
}

// Permutes values. Their uses are attached again with the nodes.
void Edit::permute_values(std::span<const NodeId> new_nodes, std::span<const ValueId> old_values) {
  permute(old_values, model_.values_);
  for (uint32_t i = 0; i < model_.values_.size(); ++i) {
    Value& value = model_.values_[ValueId{i}];
    map(value.producer, new_nodes);
    value.first_use = nullptr;
  }
}

// The arrays of a node move with it.
void Edit::permute_nodes(std::span<const NodeId> old_nodes, std::span<const ValueId> old_values) {
  const LargeVector<NodeId> new_nodes = inverse(old_nodes);
  const LargeVector<ValueId> new_values = inverse(old_values);
  permute(old_nodes, model_.nodes_);
  for (uint32_t i = 0; i < model_.nodes_.size(); ++i) {
    const NodeId id{i};
    Node& node = model_.nodes_[id];
    map<NodeId>(node.previous, new_nodes);
    map<NodeId>(node.next, new_nodes);
    const std::span<const ValueId> results = node.results;
    node.results = {model_.arena_->allocate<ValueId>(results.size()), results.size()};
    std::ranges::copy(results, node.results.begin());
    for (ValueId& result : node.results) map<ValueId>(result, new_values);
    const std::span<const Use> operands = node.operands;
    node.operands = {model_.arena_->allocate<Use>(operands.size()), operands.size()};
    for (uint32_t operand = 0; operand < operands.size(); ++operand) {
      node.operands[operand] = Use{operands[operand].value, id, operand};
      map<ValueId>(node.operands[operand].value, new_values);
      attach(node.operands[operand]);
    }
  }
}

}  // namespace assay::ir
