#include <cmath>

#include "ops/kernels/attention/scaled_scores.h"
#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/elements/fused_activation.h"
#include "ops/kernels/elements/sigmoid.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// A bias along the last axis of input 0.
void check_bias(const Infer& node, uint32_t input) {
  if (!node.has(input)) return;
  node.require_rank(input, 1);
  if (!node.is_ranked(0) || !node.is_ranked(input)) return;
  if (node.rank(0) == 0) fail(ErrorCode::shape, "the input must have a rank of 1 or more");
  unify(node.dims(0).back(), node.dims(input)[0], "the last dim of the input and that of the bias");
}

void infer_biased(Infer& node) {
  check_bias(node, 1);
  infer_same_as_first(node);
}

void eval_bias_gelu(Eval& node) {
  elementwise<double>(node, [](double x, double bias) { return gelu(x + bias); });
}

void eval_fast_gelu(Eval& node) {
  if (!node.has(1)) return elementwise<double>(node, [](double x) { return fast_gelu(x); });
  elementwise<double>(node, [](double x, double bias) { return fast_gelu(x + bias); });
}

void eval_quick_gelu(Eval& node) {
  const double alpha = node.floating("alpha");
  elementwise<double>(node, [=](double x) { return x * sigmoid(alpha * x); });
}

void infer_bias_add(Infer& node) {
  check_bias(node, 1);
  infer_same_as_first(node);
  if (node.is_ranked(0) && node.is_ranked(2)) {
    node.require_rank(2, node.rank(0));
    for (size_t a = 0; a < node.dims(0).size(); ++a) unify(node.dims(0)[a], node.dims(2)[a], "dims of X and skip");
  }
}

void eval_bias_add(Eval& node) {
  elementwise<double>(node, [](double x, double bias, double skip) { return x + bias + skip; });
}

void infer_bias_split_gelu(Infer& node) {
  infer_biased(node);
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  if (dims.empty()) fail(ErrorCode::shape, "a scalar has no features to halve");
  if (dims.back().is_number() && *dims.back().number() % 2 != 0) {
    fail(ErrorCode::shape, "{} features cannot be halved", *dims.back().number());
  }
  dims.back() = floor_div(dims.back(), 2);
  node.set_dims(0, std::move(dims));
}

void eval_bias_split_gelu(Eval& node) {
  const std::vector<double> x = node.load<double>(0);
  const std::vector<double> bias = node.load<double>(1);
  const uint64_t half = bias.size() / 2;
  std::vector<double> result(node.out_count(0));
  for (uint64_t i = 0; i < result.size(); ++i) {
    const uint64_t at = i / half * bias.size() + i % half;
    result[i] = (x[at] + bias[i % half]) * gelu(x[at + half] + bias[i % half + half]);
  }
  node.store(0, std::move(result));
}

void infer_bias_softmax(Infer& node) {
  infer_same_as_first(node);
  if (!node.all_ranked()) return;
  normalize_axis(node.integer("axis"), node.rank(0));
  node.require_broadcasts_to(1, node.dims(0));
}

// All axes from `axis` on are one line.
void eval_bias_softmax(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  std::vector<double> bias(data.size());
  BroadcastReader(node.tensor_in(1), node.shape(0)).read(0, std::span(bias));
  for (uint64_t i = 0; i < data.size(); ++i) data[i] += bias[i];
  uint64_t line = 1;
  for (auto a = static_cast<size_t>(normalize_axis(node.integer("axis"), node.rank(0))); a < node.shape(0).size();
       ++a) {
    line *= static_cast<uint64_t>(node.shape(0)[a]);
  }
  for (uint64_t at = 0; at < data.size(); at += line) softmax_row(std::span(data).subspan(at, line), false);
  node.store(0, std::move(data));
}

void infer_bias_dropout(Infer& node) {
  infer_biased(node);
  if (node.is_ranked(0) && node.has(2)) node.require_broadcasts_to(2, node.dims(0));
  if (node.wants(1)) node.set_dtype(1, DType::boolean);
}

// Without training nothing is dropped; training would depend on a generator that is not defined.
void eval_bias_dropout(Eval& node) {
  const bool drops = node.scalar<uint64_t>(4, 0) != 0 && node.scalar<double>(3, 0.5) != 0;
  if (drops) fail(ErrorCode::unsupported, "dropping elements at random is not defined by the operator");
  if (node.has(2)) {
    elementwise<double>(node, [](double x, double bias, double residual) { return x + bias + residual; });
  } else {
    elementwise<double>(node, [](double x, double bias) { return x + bias; });
  }
  if (node.wants(1)) node.store(1, std::vector<uint64_t>(node.count(0), 1));
}

}  // namespace

OperatorRows operator_microsoft_activations() {
  static constexpr Traits kActivation = {Nature::elementwise, {.rounding = RoundingClass::activation}};
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "Gelu",
       .traits = kActivation,
       .infer = infer_same_as_first,
       .eval = [](Eval& node) { elementwise<double>(node, [](double x) { return gelu(x); }); }},
      {.domain = kMicrosoft, .name = "BiasGelu", .traits = kActivation, .infer = infer_biased, .eval = eval_bias_gelu},
      {.domain = kMicrosoft, .name = "FastGelu", .traits = kActivation, .infer = infer_biased, .eval = eval_fast_gelu},
      {.domain = kMicrosoft,
       .name = "QuickGelu",
       .traits = kActivation,
       .infer = infer_same_as_first,
       .eval = eval_quick_gelu},
      {.domain = kMicrosoft,
       .name = "BiasAdd",
       .traits = {Nature::elementwise},
       .infer = infer_bias_add,
       .eval = eval_bias_add},
      {.domain = kMicrosoft,
       .name = "BiasSplitGelu",
       .traits = {Nature::product},
       .infer = infer_bias_split_gelu,
       .eval = eval_bias_split_gelu},
      {.domain = kMicrosoft,
       .name = "BiasSoftmax",
       .traits = {Nature::normalization},
       .infer = infer_bias_softmax,
       .eval = eval_bias_softmax},
      {.domain = kMicrosoft,
       .name = "BiasDropout",
       .traits = {Nature::noise, {.rounding = RoundingClass::arithmetic}},
       .infer = infer_bias_dropout,
       .eval = eval_bias_dropout,
       .is_random = true},
  };
  return kRows;
}

}  // namespace assay::ops
