#include "match/models/graph.h"

#include <algorithm>
#include <iterator>

#include "match/models/sequence.h"

namespace assay::match {
namespace {

using ir::NodeId;

std::vector<NodeId> list(const ir::Model& model, ir::GraphId graph) {
  std::vector<NodeId> nodes;
  nodes.reserve(model[graph].node_count);
  for (const NodeId node : ir::nodes(model, graph)) nodes.push_back(node);
  return nodes;
}

std::vector<Keyed> keyed(const MatchSide& side, std::span<const NodeId> nodes, Parts parts) {
  std::vector<Keyed> items;
  for (const NodeId node : nodes) {
    if (const uint64_t key = key_of(side, node, parts)) items.push_back({key, node});
  }
  sort_by_key(items);
  return items;
}

// The order in which evidence is used, from the surest to the weakest.
class GraphMatcher {
 public:
  GraphMatcher(const MatchSide& a, const MatchSide& b, const GraphTask& task, Matching& matching)
      : a_(a), b_(b), task_(task), pairs_(a, b, {task.a, task.b}, matching) {}

  void run();

 private:
  template <typename Fn>
  void for_each_open_key(Parts parts, Fn&& fn);
  void match_unique(Parts parts);
  void match_alike();
  void match_in_order(Parts parts);
  void match_where_touching(Parts parts);
  void match_by_names();
  void match_by_sequence(Parts parts);
  void match_segment(std::span<const NodeId> in_a, std::span<const NodeId> in_b, Parts parts);

  const MatchSide& a_;
  const MatchSide& b_;
  const GraphTask& task_;
  GraphPairs pairs_;
  std::vector<NodeId> open_a_;  // in order; those that are matched are dropped from time to time
  std::vector<NodeId> open_b_;
};

// fn gets the open nodes of both sides for each key that both have.
template <typename Fn>
void GraphMatcher::for_each_open_key(Parts parts, Fn&& fn) {
  std::erase_if(open_a_, [&](NodeId node) { return !pairs_.is_open_a(node); });
  std::erase_if(open_b_, [&](NodeId node) { return !pairs_.is_open_b(node); });
  if (open_a_.empty() || open_b_.empty()) return;
  const std::vector<Keyed> a = keyed(a_, open_a_, parts);
  const std::vector<Keyed> b = keyed(b_, open_b_, parts);
  for_each_common_key(a, b, fn);
}

void GraphMatcher::match_unique(Parts parts) {
  for_each_open_key(parts, [&](std::span<const Keyed> in_a, std::span<const Keyed> in_b) {
    if (in_a.size() == 1 && in_b.size() == 1) pairs_.match(in_a[0].node, in_b[0].node);
  });
}

// Pairs nodes that cannot be told apart in order; each pair decides more around it.
void GraphMatcher::match_in_order(Parts parts) {
  for_each_open_key(parts, [&](std::span<const Keyed> in_a, std::span<const Keyed> in_b) {
    size_t next = 0;
    for (const Keyed& item : in_a) {
      while (next < in_b.size() && !pairs_.is_open_b(in_b[next].node)) ++next;
      if (next == in_b.size() || !pairs_.is_open_a(item.node)) continue;
      pairs_.match(item.node, in_b[next].node);
      pairs_.spread();
    }
  });
}

void GraphMatcher::match_where_touching(Parts parts) {
  for_each_open_key(parts, [&](std::span<const Keyed> in_a, std::span<const Keyed> in_b) {
    if (in_a.size() != 1 || in_b.size() != 1) return;
    const NodeId a = in_a[0].node;
    const NodeId b = in_b[0].node;
    if (!pairs_.is_open_a(a) || !pairs_.is_open_b(b)) return;
    if (pairs_.shares_operand(a, b) || pairs_.has_same_users(a, b)) pairs_.match(a, b);
  });
}

void GraphMatcher::match_by_names() {
  for (const Parts parts : {kName | kLocal, kName | kOperator}) {
    match_unique(parts);
    pairs_.spread();
  }
}

// Between pairs that stand in one order on both sides, the other nodes are compared as lines of text are.
void GraphMatcher::match_by_sequence(Parts parts) {
  const std::vector<NodeId> all_a = list(a_.model, task_.a);
  const std::vector<NodeId> all_b = list(b_.model, task_.b);
  std::vector<size_t> place_in_b(b_.model.node_slots());
  for (size_t i = 0; i < all_b.size(); ++i) place_in_b[all_b[i].index] = i;
  std::vector<size_t> anchors_a;
  std::vector<size_t> anchors_b;
  for (size_t i = 0; i < all_a.size(); ++i) {
    const NodeId other = pairs_.counterpart(all_a[i]);
    if (!other) continue;
    anchors_a.push_back(i);
    anchors_b.push_back(place_in_b[other.index]);
  }
  std::span<const NodeId> rest_a = all_a;
  std::span<const NodeId> rest_b = all_b;
  for (const size_t anchor : increasing_subsequence(anchors_b)) {
    const size_t in_a = anchors_a[anchor] - (all_a.size() - rest_a.size());
    const size_t in_b = anchors_b[anchor] - (all_b.size() - rest_b.size());
    match_segment(rest_a.first(in_a), rest_b.first(in_b), parts);
    rest_a = rest_a.subspan(in_a + 1);
    rest_b = rest_b.subspan(in_b + 1);
  }
  match_segment(rest_a, rest_b, parts);
  pairs_.spread();
}

void GraphMatcher::match_segment(std::span<const NodeId> in_a, std::span<const NodeId> in_b, Parts parts) {
  if (in_a.empty() || in_b.empty()) return;
  std::vector<NodeId> open_a;
  std::vector<NodeId> open_b;
  std::ranges::copy_if(in_a, std::back_inserter(open_a), [&](NodeId node) { return pairs_.is_open_a(node); });
  std::ranges::copy_if(in_b, std::back_inserter(open_b), [&](NodeId node) { return pairs_.is_open_b(node); });
  std::vector<uint64_t> keys_a;
  std::vector<uint64_t> keys_b;
  for (const NodeId node : open_a) keys_a.push_back(key_of(a_, node, parts));
  for (const NodeId node : open_b) keys_b.push_back(key_of(b_, node, parts));
  for (const auto& [i, j] : common_subsequence(keys_a, keys_b)) pairs_.match(open_a[i], open_b[j]);
}

// By what nodes compute; names decide only between nodes that are alike. Returns when that leads no further.
void GraphMatcher::match_alike() {
  for (const Parts parts : {kName | kForward | kBackward, kForward | kBackward, kName | kForward, kName | kBackward}) {
    match_unique(parts);
  }
  pairs_.link_interface(task_.outputs);
  pairs_.spread();
  for (const Parts parts : {kForward, kBackward, kContent}) {
    match_unique(parts);
    pairs_.spread();
  }
}

// Exporters number nodes anew after every change, so that a name says something only where most pairs kept theirs.
void GraphMatcher::run() {
  open_a_ = list(a_.model, task_.a);
  open_b_ = list(b_.model, task_.b);
  match_alike();
  const bool trusts_names = 2 * pairs_.same_name_count() >= pairs_.count();
  if (trusts_names) match_by_names();
  for (const Parts parts : {kForward | kBackward, kForward, kBackward}) match_in_order(parts);
  match_by_sequence(kLocal);
  pairs_.spread_from_start(kOperator);
  match_by_sequence(kOperator);
  match_by_names();
  match_where_touching(kName);
  pairs_.spread_from_start(kOperator);
  pairs_.spread_from_start(kNothing);
}

}  // namespace

void match_graph(const MatchSide& a, const MatchSide& b, const GraphTask& task, Matching& matching) {
  GraphMatcher(a, b, task, matching).run();
}

}  // namespace assay::match
