#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// Before version 13 the axis splits the shape in two, and all dims after it count as one axis.
AxisView softmax_view(const Eval& node) {
  const int64_t rank = std::max<int64_t>(node.rank(0), 1);
  const int64_t axis = normalize_axis(node.integer("axis"), rank);
  AxisView view = view_axis(node.shape(0), axis);
  if (node.version() < 13) {
    view.length *= view.inner;
    view.inner = 1;
  }
  return view;
}

// Replaces each line of input 0 along the axis by fn(line).
template <typename Fn>
void eval_lines(Eval& node, Fn fn) {
  std::vector<double> data = node.load<double>(0);
  const AxisView view = softmax_view(node);
  if (!data.empty()) {
    parallel_for(view.outer * view.inner, 16, [&](uint64_t begin, uint64_t end) {
      std::vector<double> line(view.length);
      for (uint64_t at = begin; at < end; ++at) {
        const uint64_t o = at / view.inner;
        const uint64_t i = at % view.inner;
        for (uint64_t k = 0; k < view.length; ++k) line[k] = data[view.place(o, k, i)];
        fn(line);
        for (uint64_t k = 0; k < view.length; ++k) data[view.place(o, k, i)] = line[k];
      }
    });
  }
  node.store(0, std::move(data));
}

double largest(const std::vector<double>& line) {
  double result = -std::numeric_limits<double>::infinity();
  for (const double x : line) result = x > result || std::isnan(x) ? x : result;
  return result;
}

void softmax(std::vector<double>& line) {
  const double top = largest(line);
  double sum = 0;
  for (double& x : line) sum += x = std::exp(x - top);
  for (double& x : line) x /= sum;
}

void log_softmax(std::vector<double>& line) {
  const double top = largest(line);
  double sum = 0;
  for (const double x : line) sum += std::exp(x - top);
  const double log_sum = std::log(sum);
  for (double& x : line) x = x - top - log_sum;
}

// 1 at the first largest element, 0 elsewhere.
void hardmax(std::vector<double>& line) {
  size_t best = 0;
  for (size_t k = 1; k < line.size(); ++k) best = line[k] > line[best] ? k : best;
  for (size_t k = 0; k < line.size(); ++k) line[k] = k == best ? 1 : 0;
}

void infer_softmax(Infer& node) {
  if (node.is_ranked(0)) normalize_axis(node.integer("axis"), std::max<int64_t>(node.rank(0), 1));
  infer_same_as_first(node);
}

}  // namespace

OperatorRows operator_normalization_softmax() {
  static constexpr Operator kRows[] = {
      {.name = "Softmax",
       .traits = {Nature::normalization, {.rounding = RoundingClass::part_of_one, .range = ValueRange::part_of_one}},
       .infer = infer_softmax,
       .eval = [](Eval& node) { eval_lines(node, softmax); }},
      {.name = "LogSoftmax",
       .traits = {Nature::normalization, {.rounding = RoundingClass::activation}},
       .infer = infer_softmax,
       .eval = [](Eval& node) { eval_lines(node, log_softmax); }},
      {.name = "Hardmax",
       .traits = {Nature::selection, {.range = ValueRange::part_of_one}},
       .infer = infer_softmax,
       .eval = [](Eval& node) { eval_lines(node, hardmax); }},
  };
  return kRows;
}

}  // namespace assay::ops
