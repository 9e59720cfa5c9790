#include "match/models/pairs.h"

#include <algorithm>

#include "match/models/words.h"

namespace assay::match {

using ir::NodeId;
using ir::ValueId;

bool GraphPairs::is_open_a(NodeId node) const {
  return node && a_.model[node].graph == graph_a_ && !matching_.nodes_in_b[node.index] && !a_.model[node].is_outputs;
}

bool GraphPairs::is_open_b(NodeId node) const {
  return node && b_.model[node].graph == graph_b_ && !matching_.nodes_in_a[node.index] && !b_.model[node].is_outputs;
}

void GraphPairs::match(NodeId a, NodeId b) {
  matching_.nodes_in_b[a.index] = b;
  matching_.nodes_in_a[b.index] = a;
  const ir::Node& node_a = a_.model[a];
  const ir::Node& node_b = b_.model[b];
  ++count_;
  same_name_count_ += node_a.name == node_b.name;
  for (size_t i = 0; i < std::min(node_a.operands.size(), node_b.operands.size()); ++i) {
    const Link link = {node_a.operands[i].value, node_b.operands[i].value, false};
    if (link.a && link.b) links_.push_back(link);
  }
  for (size_t i = 0; i < std::min(node_a.results.size(), node_b.results.size()); ++i) {
    const Link link = {node_a.results[i], node_b.results[i], true};
    if (!link.a || !link.b) continue;
    matching_.pair(link.a, link.b);
    links_.push_back(link);
  }
}

void GraphPairs::spread() { spread_to(kLocal, spread_); }

void GraphPairs::spread_to(Parts parts, size_t& done) {
  while (done < links_.size()) {
    const Link link = links_[done++];
    follow(link, parts);
    if (parts != kLocal) spread();
  }
}

void GraphPairs::follow(const Link& link, Parts parts) {
  link.to_users ? follow_users(link, parts) : follow_producers(link, parts);
}

void GraphPairs::follow_producers(const Link& link, Parts parts) {
  const ir::Value& value_a = a_.model[link.a];
  const ir::Value& value_b = b_.model[link.b];
  const bool are_open = value_a.index == value_b.index && is_open_a(value_a.producer) && is_open_b(value_b.producer);
  if (!are_open || key_of(a_, value_a.producer, parts) != key_of(b_, value_b.producer, parts)) return;
  if (parts == kNothing && !shares_operand(value_a.producer, value_b.producer)) return;
  match(value_a.producer, value_b.producer);
}

// Users that only one node of each side can be.
void GraphPairs::follow_users(const Link& link, Parts parts) {
  users_a_.clear();
  users_b_.clear();
  for (const ir::Use& use : ir::uses(a_.model, link.a)) {
    if (is_open_a(use.user)) users_a_.push_back({mix(key_of(a_, use.user, parts), use.index), use.user});
  }
  if (users_a_.empty()) return;
  for (const ir::Use& use : ir::uses(b_.model, link.b)) {
    if (is_open_b(use.user)) users_b_.push_back({mix(key_of(b_, use.user, parts), use.index), use.user});
  }
  sort_by_key(users_a_);
  sort_by_key(users_b_);
  for_each_common_key(users_a_, users_b_, [&](std::span<const Keyed> in_a, std::span<const Keyed> in_b) {
    const bool are_one = in_a.size() == 1 && in_b.size() == 1;
    if (!are_one || !is_open_a(in_a[0].node) || !is_open_b(in_b[0].node)) return;
    if (parts != kNothing || has_same_users(in_a[0].node, in_b[0].node)) match(in_a[0].node, in_b[0].node);
  });
}

// True if the first results go to the same place of nodes that correspond. A few uses tell.
bool GraphPairs::has_same_users(NodeId a, NodeId b) const {
  constexpr int kLooks = 16;
  const ir::Node& node_a = a_.model[a];
  const ir::Node& node_b = b_.model[b];
  const bool have_results = !node_a.results.empty() && !node_b.results.empty() && node_a.results[0];
  if (!have_results) return false;
  int looks = 0;
  for (const ir::Use& use : ir::uses(a_.model, node_a.results[0])) {
    if (++looks > kLooks) return false;
    const bool is_output = use.user == a_.model[graph_a_].outputs_node;
    const NodeId user = is_output ? b_.model[graph_b_].outputs_node : matching_.nodes_in_b[use.user.index];
    if (!user || use.index >= b_.model[user].operands.size()) continue;
    if (b_.model[user].operands[use.index].value == node_b.results[0]) return true;
  }
  return false;
}

bool GraphPairs::shares_operand(NodeId a, NodeId b) const {
  const ir::Node& node_a = a_.model[a];
  const ir::Node& node_b = b_.model[b];
  for (size_t i = 0; i < std::min(node_a.operands.size(), node_b.operands.size()); ++i) {
    const ValueId value = node_a.operands[i].value;
    if (value && node_b.operands[i].value && matching_.values_in_b[value.index] == node_b.operands[i].value)
      return true;
  }
  return false;
}

void GraphPairs::link_interface(const OutputPairs& outputs) {
  for (const ValueId input : a_.model[graph_a_].inputs) {
    const ValueId other = matching_.values_in_b[input.index];
    if (other) links_.push_back({input, other, true});
  }
  for (const auto& [i, j] : outputs) {
    const Link link = {a_.model.outputs(graph_a_)[i].value, b_.model.outputs(graph_b_)[j].value, false};
    if (link.a && link.b) links_.push_back(link);
  }
}

void GraphPairs::spread_from_start(Parts parts) {
  size_t done = 0;
  spread_to(parts, done);
}

}  // namespace assay::match
