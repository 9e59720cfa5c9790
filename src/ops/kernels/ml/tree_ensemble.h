#pragma once

#include <span>
#include <vector>

#include "ops/node.h"

namespace assay::ops {

enum class TreeTest : uint8_t { at_most, below, at_least, above, equal, not_equal, member, leaf };

struct TreeNode {
  TreeTest test = TreeTest::leaf;
  int64_t feature = 0;
  double value = 0;
  bool missing_is_true = false;
  uint32_t when_true = 0;
  uint32_t when_false = 0;
  std::vector<double> members;                       // of the test `member`
  std::vector<std::pair<uint32_t, double>> weights;  // of a leaf: target and weight
};

enum class TreeAggregate : uint8_t { average, sum, least, largest };

struct TreeEnsemble {
  std::vector<TreeNode> nodes;
  std::vector<uint32_t> roots;
  uint32_t targets = 0;

  // Error where a tree leads to no leaf, or to a feature that a row of `width` does not have.
  void check(int64_t width) const;
  // Comparisons that a row may take, when check() has found no fault.
  uint64_t longest_walk() const;
};

// The trees in the form of TreeEnsembleClassifier and TreeEnsembleRegressor: nodes by tree and number, and weights
// behind, their attributes named `class_...` or `target_...`.
TreeEnsemble numbered_trees(const Node& node, std::string_view prefix, uint32_t targets);
// The trees in the form of TreeEnsemble: nodes and leaves by their places.
TreeEnsemble placed_trees(const Node& node);
// A list of numbers that is written as floats, or as a tensor named with `_as_tensor`.
std::vector<double> floats_or_tensor(const Node& node, std::string_view name);

// The scores that the trees give a row, for each target; `is_scored` (as long) tells which ones they give.
std::vector<double> run_trees(const TreeEnsemble& ensemble, std::span<const double> row, TreeAggregate aggregate,
                              std::vector<bool>& is_scored);

}  // namespace assay::ops
