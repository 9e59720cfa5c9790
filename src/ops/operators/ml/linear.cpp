#include "ops/kernels/ml/ml_scores.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

struct LinearModel {
  explicit LinearModel(const Node& node)
      : coefficients(node.floats("coefficients")),
        intercepts(node.floats("intercepts")),
        transform(post_transform_of(node)) {}

  void check_coefficients(const Dim& width, uint64_t targets) const {
    const std::optional<int64_t> features = width.number();
    const Dim needed = width * Dim(static_cast<int64_t>(targets));
    if (features && !needed.is(static_cast<int64_t>(coefficients.size()))) {
      fail(ErrorCode::shape, "{} coefficients are given for {} features and {} scores", coefficients.size(), *features,
           targets);
    }
  }

  // The scores of a row: one for each line of coefficients, plus its intercept.
  std::vector<double> scores(std::span<const double> row, uint64_t count) const {
    std::vector<double> scores(count);
    for (uint64_t k = 0; k < count; ++k) {
      double sum = 0;
      for (uint64_t i = 0; i < row.size(); ++i) sum += row[i] * coefficients[k * row.size() + i];
      scores[k] = sum + (intercepts.empty() ? 0 : intercepts[k]);
    }
    return scores;
  }

  std::vector<double> coefficients;
  std::vector<double> intercepts;
  PostTransform transform;
};

// The two scores that a single one gives; softmax does not apply to them.
std::vector<double> two_scores(double score, PostTransform transform) {
  if (transform == PostTransform::logistic) return {logistic(-score), logistic(score)};
  if (transform == PostTransform::probit) return {probit(1 - score), probit(score)};
  return {1 - score, score};
}

class Classifier : public LinearModel {
 public:
  explicit Classifier(const Node& node)
      : LinearModel(node), labels_(class_labels(node, "classlabels_ints", "classlabels_strings")) {
    const size_t targets = intercepts.size();
    if (targets == 0) fail(ErrorCode::shape, "there are no intercepts, one is needed for each class");
    if (labels_.count() != targets && !has_second_class()) {
      fail(ErrorCode::shape, "{} class labels are given for {} scores", labels_.count(), targets);
    }
  }

  const ClassLabels& labels() const { return labels_; }
  size_t score_count() const { return has_second_class() ? 2 : intercepts.size(); }

  // The scores of a row, and the place of its label.
  std::vector<double> scores_and_place(std::span<const double> row, int64_t& place) const {
    std::vector<double> made = scores(row, intercepts.size());
    const bool is_positive = made[0] > 0;
    if (has_second_class()) {
      place = is_positive ? 1 : 0;
      return two_scores(made[0], transform);
    }
    place = made.size() > 1 ? static_cast<int64_t>(first_largest(made)) : is_positive ? kYes : kNo;
    transform_regression(transform, made);
    return made;
  }

 private:
  // A single score stands for the second of two classes.
  bool has_second_class() const { return intercepts.size() == 1 && labels_.count() == 2; }

  ClassLabels labels_;
};

void infer_classifier(Infer& node) {
  const auto classifier = node.read<Classifier>();
  const RowDims rows = row_dims(node, 0);
  classifier->check_coefficients(rows.width, classifier->intercepts.size());
  node.set_dtype(0, classifier->labels().dtype());
  node.set_dims(0, {rows.count});
  node.set_dtype(1, DType::float32);
  node.set_dims(1, {rows.count, static_cast<int64_t>(classifier->score_count())});
}

void eval_classifier(Eval& node) {
  const auto classifier = node.read<Classifier>();
  const Rows rows = load_rows(node, 0);
  std::vector<int64_t> places(rows.count);
  std::vector<double> all;
  for (uint64_t r = 0; r < rows.count; ++r) {
    const std::vector<double> scores = classifier->scores_and_place(rows.row(r), places[r]);
    all.insert(all.end(), scores.begin(), scores.end());
  }
  store_labels(node, classifier->labels(), places);
  node.store(1, std::move(all));
}

struct Regressor : LinearModel {
  explicit Regressor(const Node& node) : LinearModel(node), targets(node.integer("targets")) {
    if (targets < 1) fail(ErrorCode::shape, "`targets` is {}", targets);
    if (!intercepts.empty() && intercepts.size() != static_cast<size_t>(targets)) {
      fail(ErrorCode::shape, "{} intercepts are given for {} targets", intercepts.size(), targets);
    }
  }
  int64_t targets;
};

void infer_regressor(Infer& node) {
  const auto regressor = node.read<Regressor>();
  const RowDims rows = row_dims(node, 0);
  regressor->check_coefficients(rows.width, static_cast<uint64_t>(regressor->targets));
  node.set_dtype(0, DType::float32);
  node.set_dims(0, {rows.count, regressor->targets});
}

void eval_regressor(Eval& node) {
  const auto regressor = node.read<Regressor>();
  const Rows rows = load_rows(node, 0);
  std::vector<double> all;
  for (uint64_t r = 0; r < rows.count; ++r) {
    std::vector<double> scores = regressor->scores(rows.row(r), static_cast<uint64_t>(regressor->targets));
    transform_regression(regressor->transform, scores);
    all.insert(all.end(), scores.begin(), scores.end());
  }
  node.store(0, std::move(all));
}

}  // namespace

OperatorRows operator_ml_linear() {
  constexpr std::string_view kMl = "ai.onnx.ml";
  static constexpr Operator kRows[] = {
      {.domain = kMl,
       .name = "LinearClassifier",
       .traits = {Nature::learner},
       .infer = infer_classifier,
       .eval = eval_classifier},
      {.domain = kMl,
       .name = "LinearRegressor",
       .traits = {Nature::learner},
       .infer = infer_regressor,
       .eval = eval_regressor},
  };
  return kRows;
}

}  // namespace assay::ops
