#include <cmath>
#include <utility>

#include "base/parallel.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/elements/moments.h"
#include "ops/kernels/movement/movement.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

DType stash_type(const Node& node) {
  const int64_t number = node.integer("stash_type");
  if (number == static_cast<int64_t>(DType::float32)) return DType::float32;
  if (number == static_cast<int64_t>(DType::bfloat16)) return DType::bfloat16;
  fail(ErrorCode::shape, "attribute `stash_type` is {}, expected 1 (float32) or 16 (bfloat16)", number);
}

void infer_normalization(Infer& node) {
  if (!node.is_ranked(0)) return;
  const int64_t axis = normalize_axis(node.integer("axis"), node.rank(0));
  node.require_broadcasts_to(1, node.dims(0));
  node.require_broadcasts_to(2, node.dims(0));
  Dims reduced = node.dims(0);
  std::fill(reduced.begin() + axis, reduced.end(), Dim(1));
  node.set_dims(0, node.dims(0));
  for (uint32_t i = 1; i < node.output_count(); ++i) node.set_dims(i, reduced);
}

void infer_layer_normalization(Infer& node) {
  const DType type = stash_type(node);
  for (uint32_t i = 1; i < node.output_count(); ++i) node.set_dtype(i, type);
  infer_normalization(node);
}

void infer_rms_normalization(Infer& node) {
  stash_type(node);
  infer_normalization(node);
}

// A line is all elements from the axis on.
AxisView lines_of(const Eval& node) {
  AxisView view = view_axis(node.shape(0), normalize_axis(node.integer("axis"), node.rank(0)));
  view.length *= std::exchange(view.inner, 1);
  return view;
}

// Factor `input` broadcast, one piece at a time.
void apply(const Eval& node, uint32_t input, std::vector<double>& data, bool multiplies) {
  if (!node.has(input)) return;
  const BroadcastReader reader(node.tensor_in(input), node.shape(0));
  parallel_for(data.size(), 4096, [&](uint64_t begin, uint64_t end) {
    std::vector<double> factors(end - begin);
    reader.read(begin, std::span(factors));
    for (uint64_t i = begin; i < end; ++i)
      data[i] = multiplies ? data[i] * factors[i - begin] : data[i] + factors[i - begin];
  });
}

void eval_layer_normalization(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  const AxisView view = lines_of(node);
  const uint64_t line = view.length;
  const double epsilon = node.floating("epsilon");
  std::vector<double> means(view.outer);
  std::vector<double> inverses(view.outer);
  parallel_for(view.outer, 4, [&](uint64_t begin, uint64_t end) {
    for (uint64_t l = begin; l < end; ++l) {
      double* part = data.data() + l * line;
      const Moments moments = moments_of(line, [&](uint64_t i) { return part[i]; });
      means[l] = moments.mean;
      const double deviation = std::sqrt(moments.variance + epsilon);
      inverses[l] = 1 / deviation;
      for (uint64_t i = 0; i < line; ++i) part[i] = (part[i] - moments.mean) / deviation;
    }
  });
  apply(node, 1, data, true);
  apply(node, 2, data, false);
  node.store(0, std::move(data));
  if (node.wants(1)) node.store(1, std::move(means));
  if (node.wants(2)) node.store(2, std::move(inverses));
}

void eval_rms_normalization(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  const AxisView view = lines_of(node);
  const uint64_t line = view.length;
  const double epsilon = node.floating("epsilon");
  parallel_for(view.outer, 4, [&](uint64_t begin, uint64_t end) {
    for (uint64_t l = begin; l < end; ++l) {
      double* part = data.data() + l * line;
      double sum = 0;
      for (uint64_t i = 0; i < line; ++i) sum += part[i] * part[i];
      const double root = std::sqrt(sum / static_cast<double>(line) + epsilon);
      for (uint64_t i = 0; i < line; ++i) part[i] /= root;
    }
  });
  apply(node, 1, data, true);
  node.store(0, std::move(data));
}

}  // namespace

OperatorRows operator_normalization_layer_normalization() {
  static constexpr Operator kRows[] = {
      {.name = "LayerNormalization",
       .traits = {Nature::normalization},
       .infer = infer_layer_normalization,
       .eval = eval_layer_normalization},
      {.name = "RMSNormalization",
       .since = 23,
       .traits = {Nature::normalization},
       .infer = infer_rms_normalization,
       .eval = eval_rms_normalization},
  };
  return kRows;
}

}  // namespace assay::ops
