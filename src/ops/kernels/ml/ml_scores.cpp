#include "ops/kernels/ml/ml_scores.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::ops {
namespace {

double inverse_erf(double x) {
  constexpr double kA = 0.147;
  const double log = std::log((1 - x) * (1 + x));
  const double v = 2 / (std::numbers::pi * kA) + 0.5 * log;
  return std::copysign(std::sqrt(-v + std::sqrt(v * v - log / kA)), x);
}

void softmax(std::vector<double>& scores, bool keeps_zeros) {
  constexpr double kZero = 1e-7;
  const double top = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) {
    const bool is_zero = keeps_zeros && std::abs(score) <= kZero;
    score = is_zero ? score * std::exp(-top) : std::exp(score - top);
    sum += score;
  }
  for (double& score : scores) score /= sum;
}

}  // namespace

PostTransform post_transform_of(const Node& node) {
  const std::string_view name = node.string("post_transform");
  if (name == "NONE") return PostTransform::none;
  if (name == "SOFTMAX") return PostTransform::softmax;
  if (name == "LOGISTIC") return PostTransform::logistic;
  if (name == "SOFTMAX_ZERO") return PostTransform::softmax_zero;
  if (name == "PROBIT") return PostTransform::probit;
  fail(ErrorCode::shape, "there is no post transform `{}`", name);
}

double logistic(double x) {
  const double large = 1 / (1 + std::exp(-std::abs(x)));
  return x < 0 ? 1 - large : large;
}

double probit(double x) { return std::numbers::sqrt2 * inverse_erf(2 * x - 1); }

void transform_scores(PostTransform transform, std::vector<double>& scores) {
  if (scores.empty()) return;
  switch (transform) {
    case PostTransform::none:
      return;
    case PostTransform::softmax:
      return softmax(scores, false);
    case PostTransform::softmax_zero:
      return softmax(scores, true);
    case PostTransform::logistic:
      for (double& score : scores) score = logistic(score);
      return;
    case PostTransform::probit:
      for (double& score : scores) score = probit(score);
  }
}

void transform_regression(PostTransform transform, std::vector<double>& scores) {
  if (scores.size() > 1 || transform == PostTransform::probit) transform_scores(transform, scores);
}

size_t first_largest(std::span<const double> scores) {
  return static_cast<size_t>(std::ranges::max_element(scores) - scores.begin());
}

RowDims row_dims(const Infer& node, uint32_t input) {
  if (!node.is_ranked(input)) return {};
  const Dims& dims = node.dims(input);
  if (dims.size() == 1) return {1, dims[0]};
  if (dims.size() == 2) return {dims[0], dims[1]};
  fail(ErrorCode::shape, "input {} must have a rank of 1 or 2, its shape is {}", input, text(dims));
}

Rows load_rows(const Eval& node, uint32_t input) {
  const Shape& shape = node.shape(input);
  const bool is_list = shape.size() == 1;
  return {is_list ? 1 : static_cast<uint64_t>(shape[0]), static_cast<uint64_t>(shape.back()), node.load<double>(input)};
}

ClassLabels class_labels(const Node& node, std::string_view numbers, std::string_view texts) {
  ClassLabels labels{node.integers(numbers), {}};
  for (const std::string_view text : node.strings(texts)) labels.texts.emplace_back(text);
  if (labels.are_texts() && !labels.numbers.empty()) {
    fail(ErrorCode::shape, "both `{}` and `{}` are given", numbers, texts);
  }
  return labels;
}

void store_labels(Eval& node, const ClassLabels& labels, const std::vector<int64_t>& places) {
  const auto number = [&](int64_t place) {
    if (place < 0) return static_cast<int64_t>(place == kYes);
    return labels.count() == 0 ? place : labels.numbers[static_cast<size_t>(place)];
  };
  if (!labels.are_texts()) {
    std::vector<int64_t> chosen;
    for (const int64_t place : places) chosen.push_back(number(place));
    return node.store(0, std::move(chosen));
  }
  std::vector<std::string> chosen;
  for (const int64_t place : places) {
    chosen.push_back(place < 0 ? (place == kYes ? "1" : "0") : labels.texts[static_cast<size_t>(place)]);
  }
  node.store(0, std::move(chosen));
}

}  // namespace assay::ops
