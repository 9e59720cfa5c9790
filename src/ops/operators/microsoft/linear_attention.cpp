#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/kernels/attention/delta_rule.h"
#include "ops/kernels/elements/sigmoid.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kPast = 3;
constexpr uint32_t kDecay = 4;
constexpr uint32_t kBeta = 5;

int64_t heads(const Node& node, std::string_view name) {
  const int64_t count = node.integer(name);
  if (count < 1) fail(ErrorCode::shape, "attribute `{}` is {}", name, count);
  return count;
}

int64_t window(const Node& node) {
  const int64_t slots = node.integer("state_window");
  if (slots < 0 || slots > 8) fail(ErrorCode::shape, "attribute `state_window` is {}, expected 0 to 8", slots);
  return slots;
}

Dim part_of(const Dim& width, int64_t count, std::string_view what) {
  if (!width.is_number()) return {};
  if (*width.number() % count != 0)
    fail(ErrorCode::shape, "{} heads do not divide {} of width {}", count, what, width.text());
  return *width.number() / count;
}

void infer_linear_attention(Infer& node) {
  const DeltaRule rule(node);
  const int64_t readers = heads(node, "q_num_heads");
  const int64_t kept = heads(node, "kv_num_heads");
  if (std::max(readers, kept) % std::min(readers, kept) != 0)
    fail(ErrorCode::shape, "{} heads of queries and {} of keys are not multiples", readers, kept);
  if (rule.decays && !node.has(kDecay)) fail(ErrorCode::shape, "this update rule needs `decay`");
  if (rule.corrects && !node.has(kBeta)) fail(ErrorCode::shape, "this update rule needs `beta`");
  const int64_t slots = window(node);
  for (const uint32_t input : {0U, 1U, 2U, kDecay, kBeta}) node.require_rank(input, 3);
  node.require_rank(kPast, slots > 0 ? 5 : 4);
  node.set_dtype(1, node.has(kPast) ? node.dtype(kPast) : node.dtype(0));
  if (!node.is_ranked(0) || !node.is_ranked(1) || !node.is_ranked(2)) return;
  const Dim key = unify(part_of(node.dims(0)[2], readers, "the query"), part_of(node.dims(1)[2], kept, "the key"),
                        "elements of a query and of a key");
  const Dim value = part_of(node.dims(2)[2], kept, "the value");
  node.set_dims(0, {node.dims(0)[0], node.dims(0)[1], value * Dim(std::max(readers, kept))});
  Dims state = {node.dims(0)[0], Dim(kept), key, value};
  if (slots > 0) state.insert(state.begin(), Dim(slots));
  for (size_t a = 0; a < state.size() && node.is_ranked(kPast); ++a)
    unify(node.dims(kPast)[a], state[a], "dims of `past_state`");
  node.set_dims(1, std::move(state));
}

// The inputs of a node, and where its heads lie in them.
class LinearAttention {
 public:
  explicit LinearAttention(Eval& node)
      : node_(node),
        rule_(node),
        readers_(static_cast<uint64_t>(heads(node, "q_num_heads"))),
        kept_(static_cast<uint64_t>(heads(node, "kv_num_heads"))),
        slots_(static_cast<uint64_t>(window(node))),
        batch_(static_cast<uint64_t>(node.shape(0)[0])),
        length_(static_cast<uint64_t>(node.shape(0)[1])),
        key_(static_cast<uint64_t>(node.shape(0)[2]) / readers_),
        value_(static_cast<uint64_t>(node.shape(2)[2]) / kept_),
        query_data_(node.load<double>(0)),
        key_data_(node.load<double>(1)),
        value_data_(node.load<double>(2)),
        output_(node.out_count(0)),
        states_(node.out_count(1)) {
    if (node.has(kPast)) past_ = node.load<double>(kPast);
    if (node.has(kDecay)) decay_ = node.load<double>(kDecay);
    if (node.has(kBeta)) beta_ = node.load<double>(kBeta);
    scale_ = node.floating("scale");
    if (scale_ == 0) scale_ = 1 / std::sqrt(static_cast<double>(key_));
  }

  void run() {
    parallel_for(batch_ * kept_, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) run_head(i / kept_, i % kept_);
    });
    node_.store(0, std::move(output_));
    node_.store(1, std::move(states_));
  }

 private:
  void run_head(uint64_t b, uint64_t h) {
    LinearState head(key_, value_);
    const uint64_t last = std::max<uint64_t>(slots_, 1) - 1;
    if (!past_.empty())
      std::ranges::copy(std::span(past_).subspan(place_of_state(last, b, h), key_ * value_), head.state().begin());
    for (uint64_t t = 0; t < length_; ++t) {
      step(head, b, t, h);
      read(head, b, t, h);
      const uint64_t from_end = length_ - 1 - t;
      if (from_end <= last) keep(head, last - from_end, b, h);
    }
    if (length_ == 0) keep(head, last, b, h);
  }

  void step(LinearState& head, uint64_t b, uint64_t t, uint64_t h) const {
    const uint64_t token = b * length_ + t;
    const std::span<const double> key = std::span(key_data_).subspan((token * kept_ + h) * key_, key_);
    const std::span<const double> value = std::span(value_data_).subspan((token * kept_ + h) * value_, value_);
    if (rule_.decays) head.decay(of_token(decay_, token, h));
    if (!rule_.corrects) return head.add(key, value);
    const std::span<const double> rates = std::span(beta_).subspan(token * beta_.size() / (batch_ * length_));
    head.correct(key, value, rates[beta_.size() == batch_ * length_ ? 0 : h]);
  }

  // One number of a token and a head, or one for each element of its keys.
  std::span<const double> of_token(const std::vector<double>& all, uint64_t token, uint64_t h) const {
    const uint64_t count = all.size() / (batch_ * length_ * kept_);
    return std::span(all).subspan((token * kept_ + h) * count, count);
  }

  // The heads of queries that belong to this one: several share it, or it shares one with others.
  void read(const LinearState& head, uint64_t b, uint64_t t, uint64_t h) {
    const uint64_t shared = std::max<uint64_t>(readers_ / kept_, 1);
    const uint64_t outputs = std::max(readers_, kept_);
    for (uint64_t i = 0; i < shared; ++i) {
      const uint64_t reader = readers_ >= kept_ ? h * shared + i : h / (kept_ / readers_);
      const uint64_t token = b * length_ + t;
      const std::vector<double> sums =
          head.answer(std::span(query_data_).subspan((token * readers_ + reader) * key_, key_));
      for (uint64_t v = 0; v < value_; ++v) output_[(token * outputs + h * shared + i) * value_ + v] = scale_ * sums[v];
    }
  }

  void keep(LinearState& head, uint64_t slot, uint64_t b, uint64_t h) {
    std::ranges::copy(head.state(), states_.begin() + static_cast<ptrdiff_t>(place_of_state(slot, b, h)));
  }

  uint64_t place_of_state(uint64_t slot, uint64_t b, uint64_t h) const {
    return ((slot * batch_ + b) * kept_ + h) * key_ * value_;
  }

  Eval& node_;
  DeltaRule rule_;
  uint64_t readers_, kept_, slots_, batch_, length_, key_, value_;
  std::vector<double> query_data_, key_data_, value_data_, past_, decay_, beta_, output_, states_;
  double scale_ = 1;
};

void eval_linear_attention(Eval& node) { LinearAttention(node).run(); }

// Three products with each number of the state, for each token.
Dim macs_of_linear_attention(const Infer& node) {
  if (!node.is_ranked(0) || !node.output(1).type.dims) return {};
  const Dims& state = *node.output(1).type.dims;
  return product(std::span(state).last(4)) * node.dims(0)[1] * Dim(3);
}

void infer_gate(Infer& node) {
  for (const uint32_t input : {0U, 3U}) node.require_rank(input, 3);
  for (const uint32_t input : {1U, 2U}) node.require_rank(input, 1);
  if (node.wants(1) && !node.has(3)) fail(ErrorCode::shape, "`beta` is made of `b`, which is left out");
  if (!node.is_ranked(0)) return;
  for (const uint32_t input : {1U, 2U}) {
    if (node.is_ranked(input)) unify(node.dims(0)[2], node.dims(input)[0], "heads and their factors");
  }
  infer_same_as_first(node);
}

void eval_gate(Eval& node) {
  std::vector<double> decay = node.load<double>(0);
  const std::vector<double> bias = node.load<double>(1);
  const std::vector<double> scale = node.load<double>(2);
  for (uint64_t i = 0; i < decay.size(); ++i) {
    const uint64_t h = i % scale.size();
    decay[i] = scale[h] * softplus(decay[i] + bias[h]);
  }
  node.store(0, std::move(decay));
  if (!node.wants(1)) return;
  std::vector<double> beta = node.load<double>(3);
  for (double& x : beta) x = sigmoid(x);
  node.store(1, std::move(beta));
}

}  // namespace

OperatorRows operator_microsoft_linear_attention() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "LinearAttention",
       .traits = {Nature::recurrence},
       .infer = infer_linear_attention,
       .eval = eval_linear_attention,
       .macs = macs_of_linear_attention},
      {.domain = kMicrosoft,
       .name = "LinearAttentionGate",
       .traits = {Nature::elementwise},
       .infer = infer_gate,
       .eval = eval_gate},
  };
  return kRows;
}

}  // namespace assay::ops
