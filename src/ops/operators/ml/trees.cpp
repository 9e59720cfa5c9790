#include <algorithm>

#include "base/parallel.h"
#include "ops/kernels/ml/ml_scores.h"
#include "ops/kernels/ml/tree_models.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void check_width(const TreeEnsemble& ensemble, const RowDims& rows) {
  ensemble.check(rows.width.number().value_or(-1));
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

void infer_regressor(Infer& node) {
  const auto trees = node.read<RegressionTrees>();
  const RowDims rows = row_dims(node, 0);
  check_width(trees->ensemble(), rows);
  node.set_dtype(0, DType::float32);
  node.set_dims(0, {rows.count, static_cast<int64_t>(trees->targets())});
}

void eval_regressor(Eval& node) {
  const auto trees = node.read<RegressionTrees>();
  const Rows rows = load_rows(node, 0);
  node.store(0, score_rows(rows, trees->targets(), [&](uint64_t r) { return trees->scores(rows.row(r)); }));
}

void infer_classifier(Infer& node) {
  const auto trees = node.read<ClassificationTrees>();
  const RowDims rows = row_dims(node, 0);
  check_width(trees->ensemble(), rows);
  node.set_dtype(0, trees->labels().dtype());
  node.set_dims(0, {rows.count});
  node.set_dtype(1, DType::float32);
  node.set_dims(1, {rows.count, static_cast<int64_t>(trees->targets())});
}

void eval_classifier(Eval& node) {
  const auto trees = node.read<ClassificationTrees>();
  const Rows rows = load_rows(node, 0);
  std::vector<int64_t> places(rows.count);
  std::vector<double> all =
      score_rows(rows, trees->targets(), [&](uint64_t r) { return trees->scores(rows.row(r), places[r]); });
  store_labels(node, trees->labels(), places);
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

struct PlacedTrees {
  explicit PlacedTrees(const Node& node)
      : transform(numbered_transform(node)), aggregate(numbered_aggregate(node)), ensemble(placed_trees(node)) {}

  std::vector<double> scores(std::span<const double> row) const {
    std::vector<bool> is_scored;
    std::vector<double> scores = run_trees(ensemble, row, aggregate, is_scored);
    transform_regression(transform, scores);
    return scores;
  }

  PostTransform transform;
  TreeAggregate aggregate;
  TreeEnsemble ensemble;
};

void infer_ensemble(Infer& node) {
  const auto trees = node.read<PlacedTrees>();
  const RowDims rows = row_dims(node, 0);
  check_width(trees->ensemble, rows);
  node.set_dims(0, {rows.count, static_cast<int64_t>(trees->ensemble.targets)});
}

void eval_ensemble(Eval& node) {
  const auto trees = node.read<PlacedTrees>();
  const Rows rows = load_rows(node, 0);
  node.store(0, score_rows(rows, trees->ensemble.targets, [&](uint64_t r) { return trees->scores(rows.row(r)); }));
}

// Every row walks through all trees.
Dim work_of_trees(const Infer& node, const TreeEnsemble& ensemble) {
  return row_dims(node, 0).count * Dim(static_cast<int64_t>(ensemble.longest_walk()));
}
Dim work_of_placed(const Infer& node) { return work_of_trees(node, node.read<PlacedTrees>()->ensemble); }
Dim work_of_classifier(const Infer& node) { return work_of_trees(node, node.read<ClassificationTrees>()->ensemble()); }
Dim work_of_regressor(const Infer& node) { return work_of_trees(node, node.read<RegressionTrees>()->ensemble()); }

}  // namespace

OperatorRows operator_ml_trees() {
  constexpr std::string_view kMl = "ai.onnx.ml";
  static constexpr Operator kRows[] = {
      {.domain = kMl,
       .name = "TreeEnsemble",
       .since = 5,
       .traits = {Nature::learner},
       .infer = infer_ensemble,
       .eval = eval_ensemble,
       .work = work_of_placed},
      {.domain = kMl,
       .name = "TreeEnsembleClassifier",
       .traits = {Nature::learner},
       .infer = infer_classifier,
       .eval = eval_classifier,
       .work = work_of_classifier},
      {.domain = kMl,
       .name = "TreeEnsembleRegressor",
       .traits = {Nature::learner},
       .infer = infer_regressor,
       .eval = eval_regressor,
       .work = work_of_regressor},
  };
  return kRows;
}

}  // namespace assay::ops
