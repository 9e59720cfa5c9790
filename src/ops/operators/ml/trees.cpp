#include <algorithm>
#include <set>

#include "base/parallel.h"
#include "ops/kernels/ml/ml_scores.h"
#include "ops/kernels/ml/tree_ensemble.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

ClassLabels labels_of(const Node& node) { return class_labels(node, "classlabels_int64s", "classlabels_strings"); }

TreeAggregate aggregate_of(const Node& node) {
  const std::string_view name = node.string("aggregate_function");
  if (name == "AVERAGE") return TreeAggregate::average;
  if (name == "SUM") return TreeAggregate::sum;
  if (name == "MIN") return TreeAggregate::least;
  if (name == "MAX") return TreeAggregate::largest;
  fail(ErrorCode::shape, "there is no aggregate function `{}`", name);
}

void check_width(const TreeEnsemble& ensemble, const RowDims& rows) {
  ensemble.check(rows.width.number().value_or(-1));
}

std::vector<double> base_values(const Node& node, size_t targets) {
  std::vector<double> values = floats_or_tensor(node, "base_values");
  if (!values.empty() && values.size() != targets && values.size() != 1) {
    fail(ErrorCode::shape, "{} base values are given for {} scores", values.size(), targets);
  }
  return values;
}

// fn makes the scores of one row; all have the same number.
template <typename Fn>
std::vector<double> score_rows(const Rows& rows, uint64_t targets, Fn fn) {
  std::vector<double> all(rows.count * targets);
  parallel_for(rows.count, 16, [&](uint64_t begin, uint64_t end) {
    for (uint64_t r = begin; r < end; ++r) {
      const std::vector<double> scores = fn(r);
      std::ranges::copy(scores, all.begin() + static_cast<ptrdiff_t>(r * targets));
    }
  });
  return all;
}

TreeEnsemble regression_trees(const Node& node) {
  const int64_t targets = node.integer("n_targets", 1);
  if (targets < 1 || targets > INT32_MAX) fail(ErrorCode::shape, "`n_targets` is {}", targets);
  return numbered_trees(node, "target", static_cast<uint32_t>(targets));
}

void infer_regressor(Infer& node) {
  post_transform_of(node);
  aggregate_of(node);
  const TreeEnsemble ensemble = regression_trees(node);
  base_values(node, ensemble.targets);
  const RowDims rows = row_dims(node, 0);
  check_width(ensemble, rows);
  node.set_dtype(0, DType::float32);
  node.set_dims(0, {rows.count, static_cast<int64_t>(ensemble.targets)});
}

void eval_regressor(Eval& node) {
  const TreeEnsemble ensemble = regression_trees(node);
  const std::vector<double> base = base_values(node, ensemble.targets);
  const TreeAggregate aggregate = aggregate_of(node);
  const PostTransform transform = post_transform_of(node);
  const Rows rows = load_rows(node, 0);
  node.store(0, score_rows(rows, ensemble.targets, [&](uint64_t r) {
               std::vector<bool> is_scored;
               std::vector<double> scores = run_trees(ensemble, rows.row(r), aggregate, is_scored);
               for (size_t t = 0; t < scores.size() && !base.empty(); ++t) scores[t] += base[base.size() == 1 ? 0 : t];
               transform_regression(transform, scores);
               return scores;
             }));
}

// Two classes of which the weights only speak of one: its score decides between both.
struct BinaryCase {
  bool is_binary = false;
  bool weights_are_positive = true;
};

BinaryCase binary_case(const TreeEnsemble& ensemble) {
  BinaryCase result;
  std::set<uint32_t> spoken_of;
  for (const TreeNode& node : ensemble.nodes) {
    for (const auto& [target, weight] : node.weights) {
      spoken_of.insert(target);
      result.weights_are_positive = result.weights_are_positive && weight >= 0;
    }
  }
  result.is_binary = ensemble.targets == 2 && spoken_of.size() == 1;
  return result;
}

TreeEnsemble classification_trees(const Node& node) {
  const size_t classes = labels_of(node).count();
  if (classes == 0) fail(ErrorCode::shape, "there are no class labels");
  return numbered_trees(node, "class", static_cast<uint32_t>(classes));
}

void infer_classifier(Infer& node) {
  post_transform_of(node);
  const TreeEnsemble ensemble = classification_trees(node);
  base_values(node, ensemble.targets);
  const RowDims rows = row_dims(node, 0);
  check_width(ensemble, rows);
  node.set_dtype(0, labels_of(node).dtype());
  node.set_dims(0, {rows.count});
  node.set_dtype(1, DType::float32);
  node.set_dims(1, {rows.count, static_cast<int64_t>(std::max(ensemble.targets, 2U))});
}

// The score of the second class of two made both scores.
std::vector<double> both_scores(double score, const BinaryCase& binary, PostTransform transform) {
  if (transform == PostTransform::probit) return {probit(1 - score), probit(score)};
  if (transform == PostTransform::logistic) return {logistic(-score), logistic(score)};
  if (binary.weights_are_positive) return {1 - score, score};
  return {-score, score};
}

void eval_classifier(Eval& node) {
  const TreeEnsemble ensemble = classification_trees(node);
  const BinaryCase binary = binary_case(ensemble);
  const std::vector<double> base = base_values(node, ensemble.targets);
  const PostTransform transform = post_transform_of(node);
  const Rows rows = load_rows(node, 0);
  std::vector<int64_t> places(rows.count);
  const uint64_t width = std::max(ensemble.targets, 2U);
  std::vector<double> all = score_rows(rows, width, [&](uint64_t r) {
    std::vector<bool> is_scored;
    std::vector<double> scores = run_trees(ensemble, rows.row(r), TreeAggregate::sum, is_scored);
    for (size_t t = 0; t < scores.size() && !base.empty(); ++t) scores[t] += base[base.size() == 1 ? 0 : t];
    if (!binary.is_binary && scores.size() > 1) {
      places[r] = static_cast<int64_t>(first_largest(scores));
      transform_scores(transform, scores);
      return scores;
    }
    const double score = scores.size() > 1 && is_scored[1] ? scores[1] : scores[0];
    const bool is_second = score > (binary.weights_are_positive ? 0.5 : 0);
    places[r] = ensemble.targets == 2 ? static_cast<int64_t>(is_second) : (is_second ? kYes : kNo);
    if (scores.size() == 1 || !is_scored[1]) return both_scores(score, binary, transform);
    transform_scores(transform, scores);
    return scores;
  });
  store_labels(node, labels_of(node), places);
  node.store(1, std::move(all));
}

PostTransform numbered_transform(const Node& node) {
  const int64_t number = node.integer("post_transform");
  if (number < 0 || number > 4) fail(ErrorCode::shape, "there is no post transform {}", number);
  return static_cast<PostTransform>(number);
}

TreeAggregate numbered_aggregate(const Node& node) {
  const int64_t number = node.integer("aggregate_function");
  if (number < 0 || number > 3) fail(ErrorCode::shape, "there is no aggregate function {}", number);
  return static_cast<TreeAggregate>(number);
}

void infer_ensemble(Infer& node) {
  numbered_transform(node);
  numbered_aggregate(node);
  const TreeEnsemble ensemble = placed_trees(node);
  const RowDims rows = row_dims(node, 0);
  check_width(ensemble, rows);
  node.set_dims(0, {rows.count, static_cast<int64_t>(ensemble.targets)});
}

void eval_ensemble(Eval& node) {
  const TreeEnsemble ensemble = placed_trees(node);
  const Rows rows = load_rows(node, 0);
  node.store(0, score_rows(rows, ensemble.targets, [&](uint64_t r) {
               std::vector<bool> is_scored;
               std::vector<double> scores = run_trees(ensemble, rows.row(r), numbered_aggregate(node), is_scored);
               transform_regression(numbered_transform(node), scores);
               return scores;
             }));
}

// Every row walks through all trees.
template <TreeEnsemble (*kTrees)(const Node&)>
Dim work_of_trees(const Infer& node) {
  return row_dims(node, 0).count * Dim(static_cast<int64_t>(kTrees(node).longest_walk()));
}

}  // namespace

OperatorRows operator_ml_trees() {
  constexpr std::string_view kMl = "ai.onnx.ml";
  static constexpr Operator kRows[] = {
      {.domain = kMl,
       .name = "TreeEnsemble",
       .since = 5,
       .infer = infer_ensemble,
       .eval = eval_ensemble,
       .work = work_of_trees<placed_trees>},
      {.domain = kMl,
       .name = "TreeEnsembleClassifier",
       .infer = infer_classifier,
       .eval = eval_classifier,
       .work = work_of_trees<classification_trees>},
      {.domain = kMl,
       .name = "TreeEnsembleRegressor",
       .infer = infer_regressor,
       .eval = eval_regressor,
       .work = work_of_trees<regression_trees>},
  };
  return kRows;
}

}  // namespace assay::ops
