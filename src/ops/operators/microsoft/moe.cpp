#include <algorithm>
#include <cmath>

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
  Products(const Eval& node, uint32_t weights) {
    if (!node.has(weights)) return;
    weights_ = node.load<double>(weights);
    rows_ = static_cast<uint64_t>(node.shape(weights)[1]);
    columns_ = static_cast<uint64_t>(node.shape(weights)[2]);
    if (node.has(weights + 1)) bias_ = node.load<double>(weights + 1);
  }

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
      : up_(node, 2),
        down_(node, 4),
        gated_(node, kGateWeights),
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

void eval_mixture(Eval& node) {
  const std::vector<double> input = node.load<double>(0);
  const std::vector<double> scores = node.load<double>(1);
  const Experts experts(node);
  const auto size = static_cast<uint64_t>(node.shape(0).back());
  const auto count = static_cast<uint64_t>(node.shape(1)[1]);
  const auto k = static_cast<uint64_t>(node.integer("k"));
  std::vector<double> result(input.size());
  parallel_for(static_cast<uint64_t>(node.shape(1)[0]), 1, [&](uint64_t t, uint64_t) {
    const std::span<const double> token = std::span(input).subspan(t * size, size);
    for (const Choice& choice :
         choose(std::span(scores).subspan(t * count, count), k, node.flag("normalize_routing_weights"))) {
      const std::vector<double> made = experts.of(choice.expert, token);
      for (uint64_t i = 0; i < size; ++i) result[t * size + i] += choice.weight * made[i];
    }
  });
  node.store(0, std::move(result));
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
  };
  return kRows;
}

}  // namespace assay::ops
