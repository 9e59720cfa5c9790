#include <cmath>

#include "base/parallel.h"
#include "ops/kernels/broadcast.h"
#include "ops/kernels/moments.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

DType stash_type(const Node& node) {
  const int64_t number = node.integer("stash_type");
  if (number == static_cast<int64_t>(DType::float32)) return DType::float32;
  if (number == static_cast<int64_t>(DType::bfloat16)) return DType::bfloat16;
  fail(ErrorCode::shape, "attribute `stash_type` is {}, expected 1 (float32) or 16 (bfloat16)", number);
}

// Scale and bias broadcast to the input, never the other way round.
void check_factor(const Infer& node, uint32_t input) {
  if (!node.has(input) || !node.is_ranked(input)) return;
  const Dims& own = node.dims(input);
  const Dims& in = node.dims(0);
  bool fits = own.size() <= in.size();
  for (size_t i = 0; fits && i < own.size(); ++i) {
    const Dim& dim = own[own.size() - 1 - i];
    const Dim& other = in[in.size() - 1 - i];
    fits = dim.is(1) || !dim.is_number() || !other.is_number() || dim.equals(other);
  }
  if (!fits) fail(ErrorCode::shape, "shape {} of input {} does not broadcast to {}", text(own), input, text(in));
}

void infer_normalization(Infer& node) {
  if (!node.is_ranked(0)) return;
  const int64_t axis = normalize_axis(node.integer("axis"), node.rank(0));
  check_factor(node, 1);
  check_factor(node, 2);
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

// Elements of one line: all from the axis on.
uint64_t line_of(const Eval& node) {
  const Shape& shape = node.shape(0);
  uint64_t line = 1;
  for (auto i = static_cast<size_t>(normalize_axis(node.integer("axis"), node.rank(0))); i < shape.size(); ++i) {
    line *= static_cast<uint64_t>(shape[i]);
  }
  return line;
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
  const uint64_t line = line_of(node);
  const double epsilon = node.floating("epsilon");
  const uint64_t lines = line == 0 ? node.out_count(0) : data.size() / line;
  std::vector<double> means(lines);
  std::vector<double> inverses(lines);
  parallel_for(lines, 4, [&](uint64_t begin, uint64_t end) {
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
  const uint64_t line = line_of(node);
  const double epsilon = node.floating("epsilon");
  parallel_for(line == 0 ? 0 : data.size() / line, 4, [&](uint64_t begin, uint64_t end) {
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
      {.name = "LayerNormalization", .since = 17, .infer = infer_layer_normalization, .eval = eval_layer_normalization},
      {.name = "RMSNormalization", .since = 23, .infer = infer_rms_normalization, .eval = eval_rms_normalization},
  };
  return kRows;
}

}  // namespace assay::ops
