#pragma once

#include <string_view>
#include <vector>

#include "ops/eval.h"
#include "ops/infer.h"

// Helpers of the operators of ai.onnx.ml: rows of features, scores and class labels.
namespace assay::ops {

enum class PostTransform : uint8_t { none, softmax, logistic, softmax_zero, probit };

PostTransform post_transform_of(const Node& node);  // of the attribute `post_transform`; Error where it is not known

double logistic(double x);
// By Winitzki's approximation of the inverse error function, which is what all implementations compute.
double probit(double x);
// All scores of a row, where there are at least two.
void transform_scores(PostTransform transform, std::vector<double>& scores);
// Transforms scores like ONNX Runtime: only probit applies to a single score.
void transform_regression(PostTransform transform, std::vector<double>& scores);
size_t first_largest(std::span<const double> scores);

// An input of one or two axes seen as rows of features.
struct RowDims {
  Dim count;
  Dim width;
};
RowDims row_dims(const Infer& node, uint32_t input);  // unknown dims where the rank is; Error for other ranks

struct Rows {
  uint64_t count = 0;
  uint64_t width = 0;
  std::vector<double> elements;

  std::span<const double> row(uint64_t index) const { return std::span(elements).subspan(index * width, width); }
};
Rows load_rows(const Eval& node, uint32_t input);

// Labels of classes, texts or numbers, from whichever of two attributes is written.
struct ClassLabels {
  std::vector<int64_t> numbers;
  std::vector<std::string> texts;

  bool are_texts() const { return !texts.empty(); }
  size_t count() const { return are_texts() ? texts.size() : numbers.size(); }
  DType dtype() const { return are_texts() ? DType::string : DType::int64; }
};
ClassLabels class_labels(const Node& node, std::string_view numbers, std::string_view texts);
// Labels by their places as output 0. The places -1 and -2 stand for what binary classifiers say without two labels:
// yes (1) and no (0).
inline constexpr int64_t kYes = -1;
inline constexpr int64_t kNo = -2;
void store_labels(Eval& node, const ClassLabels& labels, const std::vector<int64_t>& places);

}  // namespace assay::ops
