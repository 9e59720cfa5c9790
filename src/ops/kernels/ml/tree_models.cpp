#include "ops/kernels/ml/tree_models.h"

#include <set>

namespace assay::ops {
namespace {

TreeAggregate aggregate_of(const Node& node) {
  const std::string_view name = node.string("aggregate_function");
  if (name == "AVERAGE") return TreeAggregate::average;
  if (name == "SUM") return TreeAggregate::sum;
  if (name == "MIN") return TreeAggregate::least;
  if (name == "MAX") return TreeAggregate::largest;
  fail(ErrorCode::shape, "there is no aggregate function `{}`", name);
}

std::vector<double> base_values(const Node& node, size_t targets) {
  std::vector<double> values = floats_or_tensor(node, "base_values");
  if (!values.empty() && values.size() != targets && values.size() != 1) {
    fail(ErrorCode::shape, "{} base values are given for {} scores", values.size(), targets);
  }
  return values;
}

TreeEnsemble regression_trees(const Node& node) {
  const int64_t targets = node.integer("n_targets", 1);
  if (targets < 1 || targets > INT32_MAX) fail(ErrorCode::shape, "`n_targets` is {}", targets);
  return numbered_trees(node, "target", static_cast<uint32_t>(targets));
}

TreeEnsemble classification_trees(const Node& node, size_t classes) {
  if (classes == 0) fail(ErrorCode::shape, "there are no class labels");
  return numbered_trees(node, "class", static_cast<uint32_t>(classes));
}

void add_base(const std::vector<double>& base, std::vector<double>& scores) {
  for (size_t i = 0; i < scores.size() && !base.empty(); ++i) scores[i] += base[base.size() == 1 ? 0 : i];
}

}  // namespace

RegressionTrees::RegressionTrees(const Node& node)
    : ensemble_(regression_trees(node)),
      aggregate_(aggregate_of(node)),
      transform_(post_transform_of(node)),
      base_(base_values(node, ensemble_.targets)) {}

std::vector<double> RegressionTrees::scores(std::span<const double> row) const {
  std::vector<bool> is_scored;
  std::vector<double> scores = run_trees(ensemble_, row, aggregate_, is_scored);
  add_base(base_, scores);
  transform_regression(transform_, scores);
  return scores;
}

ClassificationTrees::ClassificationTrees(const Node& node)
    : labels_(class_labels(node, "classlabels_int64s", "classlabels_strings")),
      ensemble_(classification_trees(node, labels_.count())),
      transform_(post_transform_of(node)),
      base_(base_values(node, ensemble_.targets)) {
  std::set<uint32_t> spoken_of;
  for (const TreeNode& tree_node : ensemble_.nodes) {
    for (const auto& [target, weight] : tree_node.weights) {
      spoken_of.insert(target);
      weights_are_positive_ = weights_are_positive_ && weight >= 0;
    }
  }
  is_binary_ = ensemble_.targets == 2 && spoken_of.size() == 1;
}

std::vector<double> ClassificationTrees::scores(std::span<const double> row, int64_t& place) const {
  std::vector<bool> is_scored;
  std::vector<double> scores = run_trees(ensemble_, row, TreeAggregate::sum, is_scored);
  add_base(base_, scores);
  if (!is_binary_ && scores.size() > 1) {
    place = static_cast<int64_t>(first_largest(scores));
    transform_scores(transform_, scores);
    return scores;
  }
  const double score = scores.size() > 1 && is_scored[1] ? scores[1] : scores[0];
  const bool is_second = score > (weights_are_positive_ ? 0.5 : 0);
  place = ensemble_.targets == 2 ? static_cast<int64_t>(is_second) : (is_second ? kYes : kNo);
  if (scores.size() == 1 || !is_scored[1]) return both_scores(score);
  transform_scores(transform_, scores);
  return scores;
}

// The score of the second class of two made both scores.
std::vector<double> ClassificationTrees::both_scores(double score) const {
  if (transform_ == PostTransform::probit) return {probit(1 - score), probit(score)};
  if (transform_ == PostTransform::logistic) return {logistic(-score), logistic(score)};
  if (weights_are_positive_) return {1 - score, score};
  return {-score, score};
}

}  // namespace assay::ops
