#include "ops/kernels/ml/tree_ensemble.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ops/eval.h"

namespace assay::ops {
namespace {

TreeTest test_of(std::string_view mode) {
  if (mode == "LEAF") return TreeTest::leaf;
  if (mode == "BRANCH_LEQ") return TreeTest::at_most;
  if (mode == "BRANCH_LT") return TreeTest::below;
  if (mode == "BRANCH_GTE") return TreeTest::at_least;
  if (mode == "BRANCH_GT") return TreeTest::above;
  if (mode == "BRANCH_EQ") return TreeTest::equal;
  if (mode == "BRANCH_NEQ") return TreeTest::not_equal;
  fail(ErrorCode::shape, "there is no mode of nodes `{}`", mode);
}

bool holds(const TreeNode& node, double x) {
  if (std::isnan(x) && node.missing_is_true) return true;
  switch (node.test) {
    case TreeTest::at_most:
      return x <= node.value;
    case TreeTest::below:
      return x < node.value;
    case TreeTest::at_least:
      return x >= node.value;
    case TreeTest::above:
      return x > node.value;
    case TreeTest::equal:
      return x == node.value;
    case TreeTest::not_equal:
      return x != node.value;
    default:
      return std::ranges::find(node.members, x) != node.members.end();
  }
}

void require_count(size_t seen, size_t needed, std::string_view name) {
  if (seen != needed) fail(ErrorCode::shape, "`{}` has {} items, {} are needed", name, seen, needed);
}

// A list with an item for each node; empty where it may be left out.
std::vector<int64_t> node_list(const Node& node, std::string_view name, size_t count, bool may_miss = false) {
  std::vector<int64_t> list = node.integers(name);
  if (!(may_miss && list.empty())) require_count(list.size(), count, name);
  return list;
}

using NodePlaces = std::map<std::pair<int64_t, int64_t>, uint32_t>;

uint32_t place_of(const NodePlaces& places, int64_t tree, int64_t number) {
  const auto found = places.find({tree, number});
  if (found == places.end()) fail(ErrorCode::shape, "tree {} has no node {}", tree, number);
  return found->second;
}

void add_weights(const Node& node, std::string_view prefix, const NodePlaces& places, TreeEnsemble& ensemble) {
  const auto name = [&](std::string_view suffix) { return std::string(prefix) + std::string(suffix); };
  const std::vector<double> weights = floats_or_tensor(node, name("_weights"));
  const std::vector<int64_t> trees = node_list(node, name("_treeids"), weights.size());
  const std::vector<int64_t> numbers = node_list(node, name("_nodeids"), weights.size());
  const std::vector<int64_t> ids = node_list(node, name("_ids"), weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= static_cast<int64_t>(ensemble.targets)) {
      fail(ErrorCode::shape, "`{}` {} is out of range, there are {}", name("_ids"), ids[i], ensemble.targets);
    }
    ensemble.nodes[place_of(places, trees[i], numbers[i])].weights.emplace_back(static_cast<uint32_t>(ids[i]),
                                                                                weights[i]);
  }
}

// The members of each node that tests membership, in the order of the nodes, each list ended by a NaN.
void add_members(const Node& node, TreeEnsemble& ensemble) {
  std::vector<double> members;
  if (const tensor::Tensor* tensor = node.find_tensor("membership_values")) members = load_elements<double>(*tensor);
  size_t at = 0;
  for (TreeNode& tree_node : ensemble.nodes) {
    if (tree_node.test != TreeTest::member) continue;
    for (; at < members.size() && !std::isnan(members[at]); ++at) tree_node.members.push_back(members[at]);
    if (at++ >= members.size()) fail(ErrorCode::shape, "`membership_values` has too few lists");
  }
}

// An ensemble with room for `count` nodes, and its leaves behind them.
TreeEnsemble placed_leaves(const Node& node, size_t count) {
  const std::vector<double> weights = load_elements<double>(node.tensor("leaf_weights"));
  const std::vector<int64_t> targets = node_list(node, "leaf_targetids", weights.size());
  const int64_t target_count = node.integer("n_targets", 1);
  if (target_count < 1 || target_count > INT32_MAX) fail(ErrorCode::shape, "`n_targets` is {}", target_count);
  TreeEnsemble ensemble{std::vector<TreeNode>(count + weights.size()), {}, static_cast<uint32_t>(target_count)};
  for (size_t i = 0; i < weights.size(); ++i) {
    if (targets[i] < 0 || targets[i] >= target_count) {
      fail(ErrorCode::shape, "`leaf_targetids` {} is out of range, there are {}", targets[i], target_count);
    }
    ensemble.nodes[count + i].weights.emplace_back(static_cast<uint32_t>(targets[i]), weights[i]);
  }
  return ensemble;
}

}  // namespace

std::vector<double> floats_or_tensor(const Node& node, std::string_view name) {
  const tensor::Tensor* tensor = node.find_tensor(std::string(name) + "_as_tensor");
  if (!tensor) return node.floats(name);
  if (node.has_attribute(name)) fail(ErrorCode::shape, "both `{}` and `{}_as_tensor` are given", name, name);
  return load_elements<double>(*tensor);
}

void TreeEnsemble::check(int64_t width) const {
  enum : uint8_t { unseen, open, done };
  std::vector<uint8_t> states(nodes.size(), unseen);
  std::vector<uint32_t> stack(roots.begin(), roots.end());
  while (!stack.empty()) {
    const uint32_t place = stack.back();
    const TreeNode& node = nodes[place];
    if (states[place] == open || states[place] == done || node.test == TreeTest::leaf) {
      states[place] = done;
      stack.pop_back();
      continue;
    }
    states[place] = open;
    if (node.feature < 0 || (width >= 0 && node.feature >= width)) {
      fail(ErrorCode::shape, "a node tests feature {}, the input has {}", node.feature, width);
    }
    for (const uint32_t child : {node.when_true, node.when_false}) {
      if (states[child] == open) fail(ErrorCode::shape, "the nodes of a tree form a cycle");
      if (states[child] == unseen) stack.push_back(child);
    }
  }
}

uint64_t TreeEnsemble::longest_walk() const {
  std::vector<uint64_t> walks(nodes.size());  // from each node; 0: not known yet
  std::vector<uint32_t> stack(roots.begin(), roots.end());
  while (!stack.empty()) {
    const uint32_t place = stack.back();
    const TreeNode& node = nodes[place];
    const bool is_leaf = node.test == TreeTest::leaf;
    const uint64_t below = is_leaf ? 0 : std::max(walks[node.when_true], walks[node.when_false]);
    const bool is_known = is_leaf || (walks[node.when_true] != 0 && walks[node.when_false] != 0);
    if (is_known) {
      walks[place] = 1 + node.members.size() + node.weights.size() + below;
      stack.pop_back();
      continue;
    }
    for (const uint32_t child : {node.when_true, node.when_false}) {
      if (walks[child] == 0) stack.push_back(child);
    }
  }
  uint64_t total = 0;
  for (const uint32_t root : roots) total += walks[root];
  return total;
}

TreeEnsemble numbered_trees(const Node& node, std::string_view prefix, uint32_t targets) {
  const std::vector<std::string_view> modes = node.strings("nodes_modes");
  const size_t count = modes.size();
  const std::vector<int64_t> trees = node_list(node, "nodes_treeids", count);
  const std::vector<int64_t> numbers = node_list(node, "nodes_nodeids", count);
  const std::vector<int64_t> features = node_list(node, "nodes_featureids", count);
  const std::vector<int64_t> when_true = node_list(node, "nodes_truenodeids", count);
  const std::vector<int64_t> when_false = node_list(node, "nodes_falsenodeids", count);
  const std::vector<int64_t> missing = node_list(node, "nodes_missing_value_tracks_true", count, true);
  const std::vector<double> values = floats_or_tensor(node, "nodes_values");
  require_count(values.size(), count, "nodes_values");
  TreeEnsemble ensemble{std::vector<TreeNode>(count), {}, targets};
  NodePlaces places;
  for (uint32_t i = 0; i < count; ++i) {
    if (i == 0 || trees[i] != trees[i - 1]) ensemble.roots.push_back(i);
    if (!places.emplace(std::pair(trees[i], numbers[i]), i).second) {
      fail(ErrorCode::shape, "tree {} has node {} twice", trees[i], numbers[i]);
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    TreeNode& made = ensemble.nodes[i];
    made.test = test_of(modes[i]);
    if (made.test == TreeTest::leaf) continue;
    made.feature = features[i];
    made.value = values[i];
    made.missing_is_true = !missing.empty() && missing[i] != 0;
    made.when_true = place_of(places, trees[i], when_true[i]);
    made.when_false = place_of(places, trees[i], when_false[i]);
  }
  add_weights(node, prefix, places, ensemble);
  return ensemble;
}

TreeEnsemble placed_trees(const Node& node) {
  const std::vector<int64_t> modes = load_elements<int64_t>(node.tensor("nodes_modes"));
  const size_t count = modes.size();
  const std::vector<int64_t> features = node_list(node, "nodes_featureids", count);
  const std::vector<int64_t> when_true = node_list(node, "nodes_truenodeids", count);
  const std::vector<int64_t> when_false = node_list(node, "nodes_falsenodeids", count);
  const std::vector<int64_t> true_is_leaf = node_list(node, "nodes_trueleafs", count);
  const std::vector<int64_t> false_is_leaf = node_list(node, "nodes_falseleafs", count);
  const std::vector<int64_t> missing = node_list(node, "nodes_missing_value_tracks_true", count, true);
  const std::vector<double> splits = load_elements<double>(node.tensor("nodes_splits"));
  require_count(splits.size(), count, "nodes_splits");
  TreeEnsemble ensemble = placed_leaves(node, count);
  const auto child = [&](int64_t place, int64_t is_leaf) {
    const size_t limit = is_leaf ? ensemble.nodes.size() - count : count;
    if (place < 0 || place >= static_cast<int64_t>(limit)) {
      fail(ErrorCode::shape, "{} {} is out of range, there are {}", is_leaf ? "leaf" : "node", place, limit);
    }
    return static_cast<uint32_t>(static_cast<size_t>(place) + (is_leaf ? count : 0));
  };
  for (size_t i = 0; i < count; ++i) {
    if (modes[i] < 0 || modes[i] > 6) fail(ErrorCode::shape, "there is no mode of nodes {}", modes[i]);
    TreeNode& made = ensemble.nodes[i];
    made.test = static_cast<TreeTest>(modes[i]);
    made.feature = features[i];
    made.value = splits[i];
    made.missing_is_true = !missing.empty() && missing[i] != 0;
    made.when_true = child(when_true[i], true_is_leaf[i]);
    made.when_false = child(when_false[i], false_is_leaf[i]);
  }
  for (const int64_t root : node.integers("tree_roots")) ensemble.roots.push_back(child(root, 0));
  add_members(node, ensemble);
  return ensemble;
}

std::vector<double> run_trees(const TreeEnsemble& ensemble, std::span<const double> row, TreeAggregate aggregate,
                              std::vector<bool>& is_scored) {
  std::vector<double> scores(ensemble.targets);
  is_scored.assign(ensemble.targets, false);
  for (uint32_t place : ensemble.roots) {
    while (ensemble.nodes[place].test != TreeTest::leaf) {
      const TreeNode& node = ensemble.nodes[place];
      place = holds(node, row[static_cast<size_t>(node.feature)]) ? node.when_true : node.when_false;
    }
    for (const auto& [target, weight] : ensemble.nodes[place].weights) {
      double& score = scores[target];
      const bool is_first = !is_scored[target];
      is_scored[target] = true;
      switch (aggregate) {
        case TreeAggregate::least:
          score = is_first ? weight : std::min(score, weight);
          break;
        case TreeAggregate::largest:
          score = is_first ? weight : std::max(score, weight);
          break;
        default:
          score += weight;
      }
    }
  }
  if (aggregate == TreeAggregate::average && !ensemble.roots.empty()) {
    for (double& score : scores) score /= static_cast<double>(ensemble.roots.size());
  }
  return scores;
}

}  // namespace assay::ops
