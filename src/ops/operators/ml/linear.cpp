#include "base/parallel.h"
#include "ops/kernels/ml/ml_scores.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Scores of a row: one for each line of coefficients, plus its intercept.
std::vector<double> linear_scores(std::span<const double> row, const std::vector<double>& coefficients,
                                  const std::vector<double>& intercepts, uint64_t count) {
  std::vector<double> scores(count);
  for (uint64_t k = 0; k < count; ++k) {
    double sum = 0;
    for (uint64_t i = 0; i < row.size(); ++i) sum += row[i] * coefficients[k * row.size() + i];
    scores[k] = sum + (intercepts.empty() ? 0 : intercepts[k]);
  }
  return scores;
}

void check_coefficients(const Infer& node, const Dim& width, uint64_t targets) {
  const std::vector<double> coefficients = node.floats("coefficients");
  const std::optional<int64_t> features = width.number();
  const Dim needed = width * Dim(static_cast<int64_t>(targets));
  if (features && !needed.is(static_cast<int64_t>(coefficients.size()))) {
    fail(ErrorCode::shape, "{} coefficients are given for {} features and {} scores", coefficients.size(), *features,
         targets);
  }
}

ClassLabels labels_of(const Node& node) { return class_labels(node, "classlabels_ints", "classlabels_strings"); }

// A single score stands for the second of two classes.
bool has_second_class(const Node& node) {
  return node.floats("intercepts").size() == 1 && labels_of(node).count() == 2;
}

void infer_classifier(Infer& node) {
  post_transform_of(node);
  const ClassLabels labels = labels_of(node);
  const size_t targets = node.floats("intercepts").size();
  if (targets == 0) fail(ErrorCode::shape, "there are no intercepts, one is needed for each class");
  if (labels.count() != targets && !has_second_class(node)) {
    fail(ErrorCode::shape, "{} class labels are given for {} scores", labels.count(), targets);
  }
  const RowDims rows = row_dims(node, 0);
  check_coefficients(node, rows.width, targets);
  node.set_dtype(0, labels.dtype());
  node.set_dims(0, {rows.count});
  node.set_dtype(1, DType::float32);
  node.set_dims(1, {rows.count, static_cast<int64_t>(has_second_class(node) ? 2 : targets)});
}

// The two scores that a single one gives; softmax does not apply to them.
std::vector<double> two_scores(double score, PostTransform transform) {
  if (transform == PostTransform::logistic) return {logistic(-score), logistic(score)};
  if (transform == PostTransform::probit) return {probit(1 - score), probit(score)};
  return {1 - score, score};
}

void eval_classifier(Eval& node) {
  const std::vector<double> coefficients = node.floats("coefficients");
  const std::vector<double> intercepts = node.floats("intercepts");
  const PostTransform transform = post_transform_of(node);
  const Rows rows = load_rows(node, 0);
  std::vector<int64_t> places;
  std::vector<double> all;
  for (uint64_t r = 0; r < rows.count; ++r) {
    std::vector<double> scores = linear_scores(rows.row(r), coefficients, intercepts, intercepts.size());
    const bool is_single = scores.size() == 1;
    const bool is_second = has_second_class(node);
    const int64_t place = scores[0] > 0 ? (is_second ? 1 : kYes) : (is_second ? 0 : kNo);
    places.push_back(is_single ? place : static_cast<int64_t>(first_largest(scores)));
    if (is_second) {
      scores = two_scores(scores[0], transform);
    } else {
      transform_regression(transform, scores);
    }
    all.insert(all.end(), scores.begin(), scores.end());
  }
  store_labels(node, labels_of(node), places);
  node.store(1, std::move(all));
}

void infer_regressor(Infer& node) {
  post_transform_of(node);
  const int64_t targets = node.integer("targets");
  if (targets < 1) fail(ErrorCode::shape, "`targets` is {}", targets);
  const size_t intercepts = node.floats("intercepts").size();
  if (intercepts != 0 && intercepts != static_cast<size_t>(targets)) {
    fail(ErrorCode::shape, "{} intercepts are given for {} targets", intercepts, targets);
  }
  const RowDims rows = row_dims(node, 0);
  check_coefficients(node, rows.width, static_cast<uint64_t>(targets));
  node.set_dtype(0, DType::float32);
  node.set_dims(0, {rows.count, targets});
}

void eval_regressor(Eval& node) {
  const std::vector<double> coefficients = node.floats("coefficients");
  const std::vector<double> intercepts = node.floats("intercepts");
  const PostTransform transform = post_transform_of(node);
  const auto targets = static_cast<uint64_t>(node.integer("targets"));
  const Rows rows = load_rows(node, 0);
  std::vector<double> all;
  for (uint64_t r = 0; r < rows.count; ++r) {
    std::vector<double> scores = linear_scores(rows.row(r), coefficients, intercepts, targets);
    transform_regression(transform, scores);
    all.insert(all.end(), scores.begin(), scores.end());
  }
  node.store(0, std::move(all));
}

}  // namespace

OperatorRows operator_ml_linear() {
  constexpr std::string_view kMl = "ai.onnx.ml";
  static constexpr Operator kRows[] = {
      {.domain = kMl, .name = "LinearClassifier", .infer = infer_classifier, .eval = eval_classifier},
      {.domain = kMl, .name = "LinearRegressor", .infer = infer_regressor, .eval = eval_regressor},
  };
  return kRows;
}

}  // namespace assay::ops
