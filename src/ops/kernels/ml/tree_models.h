#pragma once

#include "ops/kernels/ml/ml_scores.h"
#include "ops/kernels/ml/tree_ensemble.h"

namespace assay::ops {

// A TreeEnsembleRegressor, read from its attributes. Error where they contradict each other.
class RegressionTrees {
 public:
  explicit RegressionTrees(const Node& node);
  const TreeEnsemble& ensemble() const { return ensemble_; }
  size_t targets() const { return ensemble_.targets; }
  TreeAggregate aggregate() const { return aggregate_; }
  PostTransform transform() const { return transform_; }
  const std::vector<double>& base() const { return base_; }
  // The scores of a row of features, one for each target.
  std::vector<double> scores(std::span<const double> row) const;

 private:
  TreeEnsemble ensemble_;
  TreeAggregate aggregate_;
  PostTransform transform_;
  std::vector<double> base_;  // of the scores; one: of all
};

// A TreeEnsembleClassifier, likewise.
class ClassificationTrees {
 public:
  explicit ClassificationTrees(const Node& node);
  const TreeEnsemble& ensemble() const { return ensemble_; }
  const ClassLabels& labels() const { return labels_; }
  size_t targets() const { return std::max(ensemble_.targets, 2U); }  // scores of a row
  PostTransform transform() const { return transform_; }
  const std::vector<double>& base() const { return base_; }
  bool is_binary() const { return is_binary_ || ensemble_.targets == 1; }  // one score decides between two classes
  bool weights_are_positive() const { return weights_are_positive_; }
  // The scores of a row of features; `place` is that of its label, as store_labels() takes it.
  std::vector<double> scores(std::span<const double> row, int64_t& place) const;

 private:
  std::vector<double> both_scores(double score) const;

  ClassLabels labels_;
  TreeEnsemble ensemble_;
  PostTransform transform_;
  std::vector<double> base_;
  // Two classes of which the weights only speak of one: its score decides between both.
  bool is_binary_ = false;
  bool weights_are_positive_ = true;
};

}  // namespace assay::ops
