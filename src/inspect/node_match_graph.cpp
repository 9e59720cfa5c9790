#include "inspect/node_match_graph.h"

#include <algorithm>
#include <tuple>

namespace assay::inspect {
namespace {

using ir::NodeId;
using ir::ValueId;

// What two nodes must have in common; several are joined by |.
using Parts = uint32_t;
constexpr Parts kNothing = 0;
constexpr Parts kName = 1;
constexpr Parts kForward = 2;
constexpr Parts kBackward = 4;
constexpr Parts kContent = 8;
constexpr Parts kLocal = 16;
constexpr Parts kOperator = 32;

struct Keyed {
  uint64_t key;
  NodeId node;
};

// Values that correspond, or would if their producers did.
struct Link {
  ValueId a;
  ValueId b;
  bool to_users;
};

uint64_t name_hash(const ir::Model& model, const ir::Node& node) {
  if (!node.name.empty()) return hash_text(node.name);
  for (const ValueId result : node.results) {
    if (result) return mix(1, hash_text(model.text(model[result].name)));
  }
  return 0;
}

uint64_t operator_hash(const ir::Model& model, const ir::Node& node) {
  return mix(hash_text(model.text(node.op)), hash_text(model.text(node.domain)));
}

// 0: the node has no name and cannot be found by it.
uint64_t key_of(const MatchSide& side, NodeId id, Parts parts) {
  const ir::Node& node = side.model[id];
  uint64_t key = parts;
  if (parts & kName) {
    const uint64_t name = name_hash(side.model, node);
    if (name == 0) return 0;
    key = mix(key, name);
  }
  if (parts & kForward) key = mix(key, side.hashes.forward[id.index]);
  if (parts & kBackward) key = mix(key, side.hashes.backward[id.index]);
  if (parts & kContent) key = mix(key, side.hashes.content[id.index]);
  if (parts & kLocal) key = mix(key, side.hashes.local[id.index]);
  if (parts & kOperator) key = mix(key, operator_hash(side.model, node));
  return key;
}

void sort(std::vector<Keyed>& items) {
  std::ranges::sort(items, [](const Keyed& x, const Keyed& y) {
    return std::tie(x.key, x.node) < std::tie(y.key, y.node);
  });
}

// Calls fn for each key that both sorted lists have, with the parts of the lists that have it.
template <typename Fn>
void for_each_common_key(std::span<const Keyed> a, std::span<const Keyed> b, Fn&& fn) {
  const auto run_length = [](std::span<const Keyed> items) {
    size_t length = 1;
    while (length < items.size() && items[length].key == items[0].key) ++length;
    return length;
  };
  while (!a.empty() && !b.empty()) {
    const size_t in_a = a[0].key <= b[0].key ? run_length(a) : 0;
    const size_t in_b = b[0].key <= a[0].key ? run_length(b) : 0;
    if (in_a > 0 && in_b > 0) fn(a.first(in_a), b.first(in_b));
    a = a.subspan(in_a);
    b = b.subspan(in_b);
  }
}

class GraphMatcher {
 public:
  GraphMatcher(const MatchSide& a, const MatchSide& b, std::pair<ir::GraphId, ir::GraphId> graphs, Matching& matching)
      : a_(a), b_(b), graph_a_(graphs.first), graph_b_(graphs.second), matching_(matching) {}

  void run(const std::vector<std::pair<size_t, size_t>>& outputs);

 private:
  void link_interface(const std::vector<std::pair<size_t, size_t>>& outputs);
  bool is_open_a(NodeId node) const;
  bool is_open_b(NodeId node) const;
  std::vector<Keyed> open_a(Parts parts);
  std::vector<Keyed> open_b(Parts parts);
  void match(NodeId a, NodeId b);
  void match_unique(Parts parts);
  void match_in_order(Parts parts);
  void match_where_touching(Parts parts);
  void spread();
  void spread_to(Parts parts, size_t& done);
  void follow(const Link& link, Parts parts);
  void follow_producers(const Link& link, Parts parts);
  void follow_users(const Link& link, Parts parts);
  bool has_same_users(NodeId a, NodeId b) const;
  bool touches(NodeId a, NodeId b) const;

  const MatchSide& a_;
  const MatchSide& b_;
  ir::GraphId graph_a_;
  ir::GraphId graph_b_;
  Matching& matching_;
  std::vector<NodeId> nodes_a_;  // in order; those that are matched are dropped from time to time
  std::vector<NodeId> nodes_b_;
  std::vector<Link> links_;
  size_t spread_ = 0;  // links that were followed
  std::vector<Keyed> users_a_;
  std::vector<Keyed> users_b_;
};

bool GraphMatcher::is_open_a(NodeId node) const {
  return node && a_.model[node].graph == graph_a_ && !matching_.nodes_in_b[node.index] && !a_.model[node].is_outputs;
}

bool GraphMatcher::is_open_b(NodeId node) const {
  return node && b_.model[node].graph == graph_b_ && !matching_.nodes_in_a[node.index] && !b_.model[node].is_outputs;
}

std::vector<Keyed> GraphMatcher::open_a(Parts parts) {
  std::erase_if(nodes_a_, [&](NodeId node) { return !is_open_a(node); });
  std::vector<Keyed> items;
  for (const NodeId node : nodes_a_) {
    if (const uint64_t key = key_of(a_, node, parts)) items.push_back({key, node});
  }
  sort(items);
  return items;
}

std::vector<Keyed> GraphMatcher::open_b(Parts parts) {
  std::erase_if(nodes_b_, [&](NodeId node) { return !is_open_b(node); });
  std::vector<Keyed> items;
  for (const NodeId node : nodes_b_) {
    if (const uint64_t key = key_of(b_, node, parts)) items.push_back({key, node});
  }
  sort(items);
  return items;
}

void GraphMatcher::match(NodeId a, NodeId b) {
  matching_.nodes_in_b[a.index] = b;
  matching_.nodes_in_a[b.index] = a;
  const ir::Node& node_a = a_.model[a];
  const ir::Node& node_b = b_.model[b];
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

void GraphMatcher::match_unique(Parts parts) {
  const std::vector<Keyed> a = open_a(parts);
  if (a.empty()) return;
  const std::vector<Keyed> b = open_b(parts);
  for_each_common_key(a, b, [&](std::span<const Keyed> in_a, std::span<const Keyed> in_b) {
    if (in_a.size() == 1 && in_b.size() == 1) match(in_a[0].node, in_b[0].node);
  });
}

// What cannot be told apart is paired in order; each pair decides more around it.
void GraphMatcher::match_in_order(Parts parts) {
  const std::vector<Keyed> a = open_a(parts);
  if (a.empty()) return;
  const std::vector<Keyed> b = open_b(parts);
  for_each_common_key(a, b, [&](std::span<const Keyed> in_a, std::span<const Keyed> in_b) {
    size_t next = 0;
    for (const Keyed& item : in_a) {
      while (next < in_b.size() && !is_open_b(in_b[next].node)) ++next;
      if (next == in_b.size() || !is_open_a(item.node)) continue;
      match(item.node, in_b[next].node);
      spread();
    }
  });
}

void GraphMatcher::match_where_touching(Parts parts) {
  const std::vector<Keyed> a = open_a(parts);
  if (a.empty()) return;
  const std::vector<Keyed> b = open_b(parts);
  for_each_common_key(a, b, [&](std::span<const Keyed> in_a, std::span<const Keyed> in_b) {
    if (in_a.size() != 1 || in_b.size() != 1) return;
    const bool are_open = is_open_a(in_a[0].node) && is_open_b(in_b[0].node);
    if (are_open && touches(in_a[0].node, in_b[0].node)) match(in_a[0].node, in_b[0].node);
  });
}

void GraphMatcher::spread() { spread_to(kLocal, spread_); }

void GraphMatcher::spread_to(Parts parts, size_t& done) {
  while (done < links_.size()) {
    const Link link = links_[done++];
    follow(link, parts);
    if (parts != kLocal) spread();
  }
}

void GraphMatcher::follow(const Link& link, Parts parts) {
  link.to_users ? follow_users(link, parts) : follow_producers(link, parts);
}

void GraphMatcher::follow_producers(const Link& link, Parts parts) {
  const ir::Value& value_a = a_.model[link.a];
  const ir::Value& value_b = b_.model[link.b];
  const bool are_open = value_a.index == value_b.index && is_open_a(value_a.producer) && is_open_b(value_b.producer);
  if (!are_open || key_of(a_, value_a.producer, parts) != key_of(b_, value_b.producer, parts)) return;
  if (parts == kNothing && !touches(value_a.producer, value_b.producer)) return;
  match(value_a.producer, value_b.producer);
}

// Users that only one node of each side can be.
void GraphMatcher::follow_users(const Link& link, Parts parts) {
  users_a_.clear();
  users_b_.clear();
  for (const ir::Use& use : ir::uses(a_.model, link.a)) {
    if (is_open_a(use.user)) users_a_.push_back({mix(key_of(a_, use.user, parts), use.index), use.user});
  }
  if (users_a_.empty()) return;
  for (const ir::Use& use : ir::uses(b_.model, link.b)) {
    if (is_open_b(use.user)) users_b_.push_back({mix(key_of(b_, use.user, parts), use.index), use.user});
  }
  sort(users_a_);
  sort(users_b_);
  for_each_common_key(users_a_, users_b_, [&](std::span<const Keyed> in_a, std::span<const Keyed> in_b) {
    const bool are_one = in_a.size() == 1 && in_b.size() == 1;
    if (!are_one || !is_open_a(in_a[0].node) || !is_open_b(in_b[0].node)) return;
    if (parts != kNothing || has_same_users(in_a[0].node, in_b[0].node)) match(in_a[0].node, in_b[0].node);
  });
}

// Whether the first results go to the same place of nodes that correspond. A few uses tell.
bool GraphMatcher::has_same_users(NodeId a, NodeId b) const {
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

bool GraphMatcher::touches(NodeId a, NodeId b) const {
  const ir::Node& node_a = a_.model[a];
  const ir::Node& node_b = b_.model[b];
  for (size_t i = 0; i < std::min(node_a.operands.size(), node_b.operands.size()); ++i) {
    const ValueId value = node_a.operands[i].value;
    if (value && node_b.operands[i].value && matching_.values_in_b[value.index] == node_b.operands[i].value) return true;
  }
  return has_same_users(a, b);
}

void GraphMatcher::link_interface(const std::vector<std::pair<size_t, size_t>>& outputs) {
  for (const ValueId input : a_.model[graph_a_].inputs) {
    const ValueId other = matching_.values_in_b[input.index];
    if (other) links_.push_back({input, other, true});
  }
  for (const auto& [i, j] : outputs) {
    const Link link = {a_.model.outputs(graph_a_)[i].value, b_.model.outputs(graph_b_)[j].value, false};
    if (link.a && link.b) links_.push_back(link);
  }
}

void GraphMatcher::run(const std::vector<std::pair<size_t, size_t>>& outputs) {
  for (const NodeId node : ir::nodes(a_.model, graph_a_)) nodes_a_.push_back(node);
  for (const NodeId node : ir::nodes(b_.model, graph_b_)) nodes_b_.push_back(node);
  // Names decide only between nodes that are alike: exporters number them anew after every change.
  for (const Parts parts : {kName | kForward | kBackward, kForward | kBackward, kName | kForward, kName | kBackward}) {
    match_unique(parts);
  }
  link_interface(outputs);
  spread();
  for (const Parts parts : {kForward, kBackward, kContent, kName | kLocal, kName | kOperator}) {
    match_unique(parts);
    spread();
  }
  for (const Parts parts : {kForward | kBackward, kForward, kBackward}) match_in_order(parts);
  size_t done = 0;
  spread_to(kOperator, done);
  match_where_touching(kName);
  spread_to(kOperator, done);
  done = 0;
  spread_to(kNothing, done);
}

}  // namespace

void match_graph(const MatchSide& a, const MatchSide& b, std::pair<ir::GraphId, ir::GraphId> graphs,
                 const std::vector<std::pair<size_t, size_t>>& outputs, Matching& matching) {
  GraphMatcher(a, b, graphs, matching).run(outputs);
}

}  // namespace assay::inspect
