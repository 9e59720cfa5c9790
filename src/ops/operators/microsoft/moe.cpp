#include <algorithm>
#include <cmath>
#include <optional>

#include "base/parallel.h"
#include "ops/kernels/attention/scaled_scores.h"
#include "ops/kernels/elements/fused_activation.h"
#include "ops/kernels/elements/sigmoid.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kGateWeights = 6;

enum class Activation : uint8_t { relu, gelu, silu, identity, swiglu };

Activation activation_of(const Node& node) {
  const std::string_view word = node.string("activation_type");
  if (word == "relu") return Activation::relu;
  if (word == "gelu") return Activation::gelu;
  if (word == "silu") return Activation::silu;
  if (word == "identity") return Activation::identity;
  if (word == "swiglu") return Activation::swiglu;
  fail(ErrorCode::shape, "attribute `activation_type` is `{}`", word);
}

// True if the first product gives two numbers for each that the second one takes.
bool is_fused(const Node& node) { return activation_of(node) == Activation::swiglu && node.flag("swiglu_fusion"); }

void check_attributes(const Infer& node) {
  const bool is_gated = activation_of(node) == Activation::swiglu;
  const int64_t fusion = node.integer("swiglu_fusion");
  if (fusion < 0 || fusion > 2) fail(ErrorCode::shape, "attribute `swiglu_fusion` is {}, expected 0, 1 or 2", fusion);
  if (node.integer("k") < 1) fail(ErrorCode::shape, "attribute `k` is {}", node.integer("k"));
  if (node.flag("use_sparse_mixer")) fail(ErrorCode::unsupported, "the sparse mixer is not supported");
  if (is_gated && fusion == 0 && !node.has(kGateWeights))
    fail(ErrorCode::shape, "swiglu without fusion needs `fc3_experts_weights`");
  if (node.has(kGateWeights) && (!is_gated || fusion != 0))
    fail(ErrorCode::unsupported, "a third product goes with swiglu without fusion only");
}

// [experts, rows, columns], and a bias for each row behind it.
void check_expert(const Infer& node, uint32_t weights, const Dims& wanted) {
  node.require_rank(weights, 3);
  node.require_rank(weights + 1, 2);
  for (size_t a = 0; a < 3 && node.is_ranked(weights); ++a)
    unify(node.dims(weights)[a], wanted[a], "dims of an input and of the weights of experts");
  for (size_t a = 0; a < 2 && node.is_ranked(weights + 1); ++a)
    unify(node.dims(weights + 1)[a], wanted[a], "dims of weights and biases");
}

void infer_mixture(Infer& node) {
  check_attributes(node);
  infer_same_as_first(node);
  node.require_rank(1, 2);
  if (!node.is_ranked(0) || !node.is_ranked(1)) return;
  const Dims& x = node.dims(0);
  if (x.size() != 2 && x.size() != 3)
    fail(ErrorCode::shape, "the input must have a rank of 2 or 3, its shape is {}", text(x));
  unify(product(std::span(x).first(x.size() - 1)), node.dims(1)[0], "tokens of the input and of `router_probs`");
  const Dim& experts = node.dims(1)[1];
  if (experts.is_number() && node.integer("k") > *experts.number())
    fail(ErrorCode::shape, "attribute `k` is {}, there are {} experts", node.integer("k"), experts.text());
  node.require_rank(4, 3);
  const Dim inner = node.is_ranked(4) ? node.dims(4)[2] : Dim();
  check_expert(node, 2, {experts, is_fused(node) ? inner * Dim(2) : inner, x.back()});
  check_expert(node, 4, {experts, x.back(), inner});
  check_expert(node, kGateWeights, {experts, inner, x.back()});
}

// One of the products of all experts.
class Products {
 public:
  Products() = default;
  Products(const Eval& node, uint32_t weights) {
    if (!node.has(weights)) return;
    weights_ = node.load<double>(weights);
    rows_ = static_cast<uint64_t>(node.shape(weights)[1]);
    columns_ = static_cast<uint64_t>(node.shape(weights)[2]);
    if (node.has(weights + 1)) bias_ = node.load<double>(weights + 1);
  }
  Products(std::vector<double> weights, uint64_t rows, uint64_t columns, std::vector<double> bias)
      : weights_(std::move(weights)), bias_(std::move(bias)), rows_(rows), columns_(columns) {}

  bool is_there() const { return rows_ != 0; }
  std::vector<double> of(uint64_t expert, std::span<const double> x) const {
    std::vector<double> result(rows_);
    for (uint64_t r = 0; r < rows_; ++r) {
      const uint64_t row = expert * rows_ + r;
      for (uint64_t c = 0; c < columns_; ++c) result[r] += weights_[row * columns_ + c] * x[c];
      if (!bias_.empty()) result[r] += bias_[row];
    }
    return result;
  }

 private:
  std::vector<double> weights_, bias_;
  uint64_t rows_ = 0;
  uint64_t columns_ = 0;
};

class Experts {
 public:
  explicit Experts(const Eval& node)
      : Experts(node, Products(node, 2), Products(node, 4), Products(node, kGateWeights)) {}
  Experts(const Eval& node, Products up, Products down, Products gated)
      : up_(std::move(up)),
        down_(std::move(down)),
        gated_(std::move(gated)),
        activation_(activation_of(node)),
        fusion_(node.integer("swiglu_fusion")),
        alpha_(node.floating("activation_alpha")),
        beta_(node.floating("activation_beta")),
        limit_(node.floating("swiglu_limit", HUGE_VAL)) {}

  std::vector<double> of(uint64_t expert, std::span<const double> x) const {
    std::vector<double> inner = up_.of(expert, x);
    if (activation_ != Activation::swiglu) {
      for (double& value : inner) value = activate(value);
      return down_.of(expert, inner);
    }
    if (gated_.is_there()) {
      const std::vector<double> linear = gated_.of(expert, x);
      for (size_t i = 0; i < inner.size(); ++i) inner[i] = gate(inner[i], linear[i]);
      return down_.of(expert, inner);
    }
    const size_t half = inner.size() / 2;
    std::vector<double> mixed(half);
    for (size_t i = 0; i < half; ++i)
      mixed[i] = fusion_ == 1 ? gate(inner[2 * i], inner[2 * i + 1]) : gate(inner[i], inner[i + half]);
    return down_.of(expert, mixed);
  }

 private:
  double activate(double x) const {
    if (activation_ == Activation::relu) return std::max(x, 0.0);
    if (activation_ == Activation::gelu) return fast_gelu(x);
    return activation_ == Activation::silu ? x * sigmoid(x) : x;
  }
  double gate(double x, double linear) const {
    const double capped = std::min(x, limit_);
    return capped * sigmoid(alpha_ * capped) * (std::clamp(linear, -limit_, limit_) + beta_);
  }

  Products up_, down_, gated_;
  Activation activation_;
  int64_t fusion_;
  double alpha_, beta_, limit_;
};

struct Choice {
  uint64_t expert;
  double weight;
};

// The `count` experts with the largest probabilities; of equal ones the later.
std::vector<Choice> choose(std::span<const double> scores, uint64_t count, bool normalizes) {
  std::vector<double> weights(scores.begin(), scores.end());
  softmax_row(weights, false);
  std::vector<Choice> choices(scores.size());
  for (size_t e = 0; e < choices.size(); ++e) choices[e] = {e, weights[e]};
  std::ranges::stable_sort(choices, [&](const Choice& a, const Choice& b) {
    return scores[a.expert] != scores[b.expert] ? scores[a.expert] > scores[b.expert] : a.expert > b.expert;
  });
  choices.resize(count);
  double sum = 0;
  for (const Choice& choice : choices) sum += choice.weight;
  for (Choice& choice : choices) choice.weight /= normalizes ? sum : 1;
  return choices;
}

// Mixing weights of the chosen experts by another list of scores.
void weigh_anew(std::vector<Choice>& choices, std::span<const double> weights, bool normalizes) {
  double sum = 0;
  for (Choice& choice : choices) sum += choice.weight = weights[choice.expert];
  for (Choice& choice : choices) choice.weight /= normalizes ? sum : 1;
}

// `weights`: of the experts for each token; empty: their scores weigh them, normalized over the chosen ones or all.
void mix(Eval& node, const Experts& experts, const std::vector<double>& weights, bool normalizes_scores) {
  const std::vector<double> input = node.load<double>(0);
  const std::vector<double> scores = node.load<double>(1);
  const bool normalizes = node.flag("normalize_routing_weights");
  const auto size = static_cast<uint64_t>(node.shape(0).back());
  const auto count = static_cast<uint64_t>(node.shape(1)[1]);
  const auto k = static_cast<uint64_t>(node.integer("k"));
  std::vector<double> result(input.size());
  parallel_for(static_cast<uint64_t>(node.shape(1)[0]), 1, [&](uint64_t t, uint64_t) {
    const std::span<const double> token = std::span(input).subspan(t * size, size);
    std::vector<Choice> choices = choose(std::span(scores).subspan(t * count, count), k, normalizes_scores);
    if (!weights.empty()) weigh_anew(choices, std::span(weights).subspan(t * count, count), normalizes);
    for (const Choice& choice : choices) {
      const std::vector<double> made = experts.of(choice.expert, token);
      for (uint64_t i = 0; i < size; ++i) result[t * size + i] += choice.weight * made[i];
    }
  });
  node.store(0, std::move(result));
}

void eval_mixture(Eval& node) { mix(node, Experts(node), {}, node.flag("normalize_routing_weights")); }

// Inputs of a product of the quantized mixture.
struct QuantizedInputs {
  uint32_t weights, zeros;
  std::string_view bits;
  uint32_t scales() const { return weights + 1; }
  uint32_t bias() const { return weights + 2; }
};
constexpr QuantizedInputs kUp = {2, 11, "fc1_expert_weight_bits"};
constexpr QuantizedInputs kDown = {5, 12, "fc2_expert_weight_bits"};
constexpr QuantizedInputs kGate = {8, 13, "fc3_expert_weight_bits"};
constexpr uint32_t kMixingWeights = 14;

int64_t bits_of(const Node& node, const QuantizedInputs& inputs) {
  const int64_t bits = node.integer(inputs.bits, node.integer("expert_weight_bits"));
  if (bits != 2 && bits != 4 && bits != 8) fail(ErrorCode::shape, "weights of {} bits, expected 2, 4 or 8", bits);
  return bits;
}

void infer_quantized_mixture(Infer& node) {
  infer_same_as_first(node);
  node.require_rank(1, 2);
  for (const QuantizedInputs& inputs : {kUp, kDown, kGate}) node.require_rank(inputs.weights, 3);
  activation_of(node);
  if (node.integer("k") < 1) fail(ErrorCode::shape, "attribute `k` is {}", node.integer("k"));
  if (node.string("quant_type") == "int") {
    for (const QuantizedInputs& inputs : {kUp, kDown, kGate}) bits_of(node, inputs);
  }
  if (!node.is_ranked(0) || !node.is_ranked(1)) return;
  const Dims& x = node.dims(0);
  if (x.size() != 2 && x.size() != 3)
    fail(ErrorCode::shape, "the input must have a rank of 2 or 3, its shape is {}", text(x));
  unify(product(std::span(x).first(x.size() - 1)), node.dims(1)[0], "tokens of the input and of `router_probs`");
  for (const QuantizedInputs& inputs : {kUp, kDown, kGate}) {
    if (node.is_ranked(inputs.weights)) unify(node.dims(inputs.weights)[0], node.dims(1)[1], "numbers of experts");
  }
}

// Integers of few bits, the lowest of a byte first, each line of whole bytes.
class PackedLines {
 public:
  PackedLines(std::vector<uint64_t> bytes, uint64_t lines, uint64_t bits)
      : bytes_(std::move(bytes)), line_(bytes_.size() / std::max<uint64_t>(lines, 1)), bits_(bits) {}
  double at(uint64_t line, uint64_t place) const {
    const uint64_t bit = place * bits_;
    return static_cast<double>(bytes_[line * line_ + bit / 8] >> (bit % 8) & ((uint64_t{1} << bits_) - 1));
  }

 private:
  std::vector<uint64_t> bytes_;
  uint64_t line_, bits_;
};

// The weights as numbers: codes less their zero points, times the scales of their rows or of blocks in them.
Products dequantized(const Eval& node, const QuantizedInputs& inputs) {
  if (!node.has(inputs.weights)) return {};
  const auto bits = static_cast<uint64_t>(bits_of(node, inputs));
  const Shape& shape = node.shape(inputs.weights);
  const auto experts = static_cast<uint64_t>(shape[0]);
  const auto rows = static_cast<uint64_t>(shape[1]);
  const uint64_t columns = static_cast<uint64_t>(shape[2]) * 8 / bits;
  const std::vector<double> scales = node.load<double>(inputs.scales());
  const uint64_t blocks = scales.size() / std::max<uint64_t>(experts * rows, 1);
  const bool is_blocked = node.integer("block_size", 0) > 0;
  const PackedLines codes(node.load<uint64_t>(inputs.weights), experts * rows, bits);
  std::optional<PackedLines> zeros;
  if (node.has(inputs.zeros))
    zeros.emplace(node.load<uint64_t>(inputs.zeros), is_blocked ? experts * rows : experts, bits);
  std::vector<double> weights(experts * rows * columns);
  for (uint64_t i = 0; i < weights.size(); ++i) {
    const uint64_t row = i / columns;
    const uint64_t block = i % columns / (columns / blocks);
    double zero = std::ldexp(1.0, static_cast<int>(bits) - 1);
    if (zeros) zero = is_blocked ? zeros->at(row, block) : zeros->at(row / rows, row % rows);
    weights[i] = (codes.at(row, i % columns) - zero) * scales[row * blocks + block];
  }
  std::vector<double> bias;
  if (node.has(inputs.bias())) bias = node.load<double>(inputs.bias());
  return {std::move(weights), rows, columns, std::move(bias)};
}

void eval_quantized_mixture(Eval& node) {
  if (node.string("quant_type") != "int")
    fail(ErrorCode::unsupported, "weights of `quant_type` `{}` are not computed with", node.string("quant_type"));
  if (node.flag("use_sparse_mixer")) fail(ErrorCode::unsupported, "the sparse mixer is not supported");
  for (const QuantizedInputs& inputs : {kUp, kDown, kGate}) {
    if (node.has(inputs.weights) && !node.has(inputs.scales()))
      fail(ErrorCode::shape, "quantized weights need their scales");
  }
  const std::vector<double> weights =
      node.has(kMixingWeights) ? node.load<double>(kMixingWeights) : std::vector<double>();
  // ONNX Runtime's kernel normalizes the scores of the chosen experts whatever `normalize_routing_weights` says.
  mix(node, Experts(node, dequantized(node, kUp), dequantized(node, kDown), dequantized(node, kGate)), weights, true);
}

Dim macs_of_mixture(const Infer& node) {
  if (!node.is_ranked(1) || !node.is_ranked(2) || !node.is_ranked(4)) return {};
  const Dim tokens = node.dims(1)[0] * Dim(node.integer("k"));
  const Dim gated = node.is_ranked(kGateWeights) ? node.dims(kGateWeights)[1] * node.dims(kGateWeights)[2] : Dim(0);
  return tokens * (node.dims(2)[1] * node.dims(2)[2] + node.dims(4)[1] * node.dims(4)[2] + gated);
}

}  // namespace

OperatorRows operator_microsoft_moe() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "MoE",
       .traits = {Nature::product},
       .infer = infer_mixture,
       .eval = eval_mixture,
       .macs = macs_of_mixture},
      {.domain = kMicrosoft,
       .name = "QMoE",
       .traits = {Nature::product, {.codes = {2, 5, 8}, .scales = {3, 6, 9}}},
       .infer = infer_quantized_mixture,
       .eval = eval_quantized_mixture},
  };
  return kRows;
}

}  // namespace assay::ops
