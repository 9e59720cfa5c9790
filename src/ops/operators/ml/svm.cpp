#include "ops/kernels/ml/svm.h"

#include <algorithm>

#include "ops/operator.h"

namespace assay::ops {
namespace {

ClassLabels labels_of(const Node& node) { return class_labels(node, "classlabels_ints", "classlabels_strings"); }

// The number of features that `count` numbers hold for each of `vectors` vectors; must be that of the input.
void check_features(size_t count, size_t vectors, const Dim& width, std::string_view name) {
  if (vectors == 0 || count % vectors != 0)
    fail(ErrorCode::shape, "`{}` has {} numbers for {} vectors", name, count, vectors);
  const auto features = static_cast<int64_t>(count / vectors);
  if (width.is_number() && !width.is(features)) {
    fail(ErrorCode::shape, "the input has {} features, `{}` is for {}", width.text(), name, features);
  }
}

void require_count(size_t seen, size_t needed, std::string_view name) {
  if (seen < needed) fail(ErrorCode::shape, "`{}` has {} numbers, {} are needed", name, seen, needed);
}

// A classifier with support vectors compares pairs of classes; one without is linear.
class Classifier {
 public:
  explicit Classifier(const Node& node)
      : labels(labels_of(node)),
        transform(post_transform_of(node)),
        product_(svm_product(node)),
        per_class_(node.integers("vectors_per_class")),
        vectors_(node.floats("support_vectors")),
        coefficients_(node.floats("coefficients")),
        rho_(node.floats("rho")),
        prob_a_(node.floats("prob_a")),
        prob_b_(node.floats("prob_b")) {
    for (const int64_t count : per_class_) {
      if (count < 0) fail(ErrorCode::shape, "`vectors_per_class` has the negative number {}", count);
      starts_.push_back(vector_count_);
      vector_count_ += static_cast<size_t>(std::min<int64_t>(count, INT32_MAX));
    }
    classes_ = is_linear() ? std::max<size_t>(labels.count(), 1) : per_class_.size();
  }

  void check(const Dim& width) const {
    require_count(rho_.size(), is_linear() ? 1 : pair_count(), "rho");
    if (!labels.count() || labels.count() != classes_) {
      fail(ErrorCode::shape, "{} class labels are given for {} classes", labels.count(), classes_);
    }
    if (is_linear()) return check_features(coefficients_.size(), classes_, width, "coefficients");
    check_features(vectors_.size(), vector_count_, width, "support_vectors");
    require_count(coefficients_.size(), vector_count_ * (classes_ - 1), "coefficients");
    if (has_probabilities()) {
      require_count(prob_a_.size(), pair_count(), "prob_a");
      require_count(prob_b_.size(), pair_count(), "prob_b");
    }
  }

  // Scores of a row before they are transformed, and the place of its label.
  std::vector<double> scores(std::span<const double> row, int64_t& place) const {
    std::vector<double> votes;
    std::vector<double> result = is_linear() ? linear_scores(row) : pair_scores(row, votes);
    if (has_probabilities()) result = probabilities(result);
    const std::vector<double>& judged = votes.empty() ? result : votes;
    const size_t best = first_largest(judged);
    place = static_cast<int64_t>(best);
    if (rho_.size() == 1 && labels.count() != 2) place = judged[best] > 0 ? kYes : kNo;
    return finished(std::move(result));
  }

  size_t score_count() const {
    if (is_linear()) return classes_;
    if (has_probabilities()) return classes_;
    return pair_count() == 1 ? 2 : pair_count();
  }

  ClassLabels labels;
  PostTransform transform;

 private:
  bool is_linear() const { return vector_count_ == 0; }
  bool has_probabilities() const { return !prob_a_.empty() && !is_linear(); }
  size_t pair_count() const { return classes_ * (classes_ - 1) / 2; }

  std::vector<double> linear_scores(std::span<const double> row) const {
    std::vector<double> result;
    for (size_t k = 0; k < classes_; ++k) {
      result.push_back(SvmProduct{}(row, std::span(coefficients_).subspan(k * row.size(), row.size())) + rho_[0]);
    }
    return result;
  }

  // The part that the vectors of class `of` have against class `other`.
  double part(const std::vector<double>& products, size_t of, size_t other) const {
    const size_t line = other > of ? other - 1 : other;
    double sum = 0;
    for (size_t m = 0; m < static_cast<size_t>(per_class_[of]); ++m) {
      sum += coefficients_[line * vector_count_ + starts_[of] + m] * products[starts_[of] + m];
    }
    return sum;
  }

  std::vector<double> pair_scores(std::span<const double> row, std::vector<double>& votes) const {
    std::vector<double> products;
    for (size_t j = 0; j < vector_count_; ++j) {
      products.push_back(product_(row, std::span(vectors_).subspan(j * row.size(), row.size())));
    }
    votes.assign(classes_, 0);
    std::vector<double> result;
    for (size_t i = 0; i < classes_; ++i) {
      for (size_t j = i + 1; j < classes_; ++j) {
        const double score = part(products, i, j) + part(products, j, i) + rho_[result.size()];
        votes[score > 0 ? i : j] += 1;
        result.push_back(score);
      }
    }
    return result;
  }

  std::vector<double> probabilities(const std::vector<double>& scores) const {
    constexpr double kLeast = 1e-7;
    std::vector<double> pairs(classes_ * classes_);
    size_t pair = 0;
    for (size_t i = 0; i < classes_; ++i) {
      for (size_t j = i + 1; j < classes_; ++j, ++pair) {
        const double chance = 1 - logistic(scores[pair] * prob_a_[pair] + prob_b_[pair]);
        pairs[i * classes_ + j] = std::clamp(chance, kLeast, 1 - kLeast);
        pairs[j * classes_ + i] = 1 - pairs[i * classes_ + j];
      }
    }
    return couple_probabilities(pairs, classes_);
  }

  std::vector<double> finished(std::vector<double> scores) const {
    if (scores.size() != 1) {
      transform_scores(transform, scores);
      return scores;
    }
    if (score_count() == 1) return scores;
    const double score = scores[0];
    if (transform == PostTransform::none) return {-score, score};
    if (transform == PostTransform::logistic) return {logistic(-score), logistic(score)};
    return {1 - score, score};
  }

  SvmProduct product_;
  std::vector<int64_t> per_class_;
  std::vector<double> vectors_;
  std::vector<double> coefficients_;
  std::vector<double> rho_;
  std::vector<double> prob_a_;
  std::vector<double> prob_b_;
  std::vector<size_t> starts_;
  size_t vector_count_ = 0;
  size_t classes_ = 0;
};

void infer_classifier(Infer& node) {
  const auto classifier = node.read<Classifier>();
  const RowDims rows = row_dims(node, 0);
  classifier->check(rows.width);
  node.set_dtype(0, classifier->labels.dtype());
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
    const std::vector<double> scores = classifier->scores(rows.row(r), places[r]);
    all.insert(all.end(), scores.begin(), scores.end());
  }
  store_labels(node, classifier->labels, places);
  node.store(1, std::move(all));
}

class Regressor {
 public:
  explicit Regressor(const Node& node)
      : transform_(post_transform_of(node)),
        product_(svm_product(node)),
        supports_(static_cast<size_t>(std::max<int64_t>(node.integer("n_supports"), 0))),
        vectors_(node.floats("support_vectors")),
        coefficients_(node.floats("coefficients")),
        rho_(node.floats("rho")),
        is_one_class_(node.flag("one_class")) {
    require_count(rho_.size(), 1, "rho");
  }

  void check(const Dim& width) const {
    if (supports_ == 0) return check_features(coefficients_.size(), 1, width, "coefficients");
    require_count(coefficients_.size(), supports_, "coefficients");
    check_features(vectors_.size(), supports_, width, "support_vectors");
  }

  double score(std::span<const double> row) const {
    double sum = supports_ == 0 ? SvmProduct{}(row, coefficients_) : 0;
    for (size_t j = 0; j < supports_; ++j) {
      sum += coefficients_[j] * product_(row, std::span(vectors_).subspan(j * row.size(), row.size()));
    }
    std::vector<double> score = {sum + rho_[0]};
    if (is_one_class_) return score[0] > 0 ? 1 : -1;
    transform_regression(transform_, score);
    return score[0];
  }

 private:
  PostTransform transform_;
  SvmProduct product_;
  size_t supports_;
  std::vector<double> vectors_;
  std::vector<double> coefficients_;
  std::vector<double> rho_;
  bool is_one_class_;
};

void infer_regressor(Infer& node) {
  const RowDims rows = row_dims(node, 0);
  node.read<Regressor>()->check(rows.width);
  node.set_dtype(0, DType::float32);
  node.set_dims(0, {rows.count, 1});
}

void eval_regressor(Eval& node) {
  const auto regressor = node.read<Regressor>();
  const Rows rows = load_rows(node, 0);
  std::vector<double> result;
  for (uint64_t r = 0; r < rows.count; ++r) result.push_back(regressor->score(rows.row(r)));
  node.store(0, std::move(result));
}

// Every row meets all numbers.
Dim work_of_svm(const Infer& node) {
  const size_t numbers = node.floats("support_vectors").size() + node.floats("coefficients").size();
  return row_dims(node, 0).count * Dim(static_cast<int64_t>(numbers));
}

}  // namespace

OperatorRows operator_ml_svm() {
  constexpr std::string_view kMl = "ai.onnx.ml";
  static constexpr Operator kRows[] = {
      {.domain = kMl,
       .name = "SVMClassifier",
       .traits = {Nature::learner},
       .infer = infer_classifier,
       .eval = eval_classifier,
       .work = work_of_svm},
      {.domain = kMl,
       .name = "SVMRegressor",
       .traits = {Nature::learner},
       .infer = infer_regressor,
       .eval = eval_regressor,
       .work = work_of_svm},
  };
  return kRows;
}

}  // namespace assay::ops
