#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/kernels/attention/delta_rule.h"
#include "ops/kernels/elements/sigmoid.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kStarts = 3;
constexpr uint32_t kDecay = 4;
constexpr uint32_t kBeta = 5;
constexpr uint32_t kState = 6;
constexpr uint32_t kLogarithms = 7;  // of the factors of gates
constexpr uint32_t kGateBias = 8;
constexpr uint32_t kCaptured = 9;
constexpr uint32_t kIsActive = 10;
constexpr double kEpsilon = 1e-6;  // of lengths of queries and keys

bool is_chosen(const Node& node, std::string_view name, std::string_view word) {
  const std::string_view seen = node.string(name);
  if (seen != word && seen != "none") fail(ErrorCode::shape, "attribute `{}` is `{}`", name, seen);
  return seen == word;
}

int64_t capacity(const Node& node) {
  const int64_t count = node.integer("state_update_capacity");
  if (count < 0 || count > 8) fail(ErrorCode::shape, "attribute `state_update_capacity` is {}, expected 0 to 8", count);
  return count;
}

void require_presence(const Infer& node, uint32_t input, bool is_needed, std::string_view name) {
  if (node.has(input) == is_needed) return;
  fail(ErrorCode::shape, "`{}` is {}, which the attributes {}", name, is_needed ? "left out" : "given",
       is_needed ? "need" : "have no use for");
}

void check_operands(const Infer& node) {
  const DeltaRule rule(node);
  require_presence(node, kDecay, rule.decays, "decay");
  require_presence(node, kBeta, rule.corrects, "beta");
  const bool makes_gates = is_chosen(node, "gate_activation", "qwen");
  require_presence(node, kLogarithms, makes_gates, "a_log");
  require_presence(node, kGateBias, makes_gates, "dt_bias");
  is_chosen(node, "beta_activation", "sigmoid");
  require_presence(node, kCaptured, capacity(node) > 0, "capture_count");
  if (node.has(1) != node.has(2)) fail(ErrorCode::shape, "`key` and `value` must be given or left out together");
  if (!node.has(1) && !node.has(kState)) fail(ErrorCode::shape, "packed queries, keys and values need `initial_state`");
  node.require_rank(kState, 4);
  node.require_rank(kStarts, 1);
  if (!node.is_ranked(0)) return;
  const int64_t rank = node.rank(0) + (node.has(1) ? 0 : 1);
  if (rank != 3 && rank != 4) fail(ErrorCode::shape, "the query has shape {}", text(node.dims(0)));
  if (rank == 4 && node.has(kStarts)) fail(ErrorCode::shape, "`cu_seqlens` is for tokens in one row");
  if (rank == 3 && !node.has(kStarts) && !node.has(kState))
    fail(ErrorCode::shape, "tokens in one row need `cu_seqlens` or `initial_state`");
  if (!node.has(1)) return;
  node.require_rank(1, rank);
  node.require_rank(2, rank);
}

// The heads that operands of known rank have.
struct NetDims {
  Dims tokens;
  Dim keys, heads, key, value;  // heads of keys and of values, and their sizes

  explicit NetDims(const Infer& node) : tokens(node.dims(0)) {
    const bool is_packed = !node.has(2);
    const Dims& inner = node.dims(is_packed ? kState : 2);
    const size_t at = is_packed ? 1 : inner.size() - 2;
    heads = inner[at];
    value = inner[at + 1];
    key = is_packed ? inner[3] : tokens.back();
    if (!is_packed) keys = tokens[tokens.size() - 2];
    tokens.resize(tokens.size() - (is_packed ? 1 : 2));
  }

  Dim batch(const Infer& node) const {
    if (node.is_ranked(kStarts) && node.dims(kStarts)[0].is_number()) return *node.dims(kStarts)[0].number() - 1;
    return tokens.size() == 2 ? tokens[0] : Dim();
  }
};

void check_heads(const Infer& node, const NetDims& dims) {
  for (int64_t a = 0; node.is_ranked(1) && a < node.rank(0); ++a) {
    const auto at = static_cast<size_t>(a);
    unify(node.dims(0)[at], node.dims(1)[at], "dims of the query and of the key");
  }
  if (!dims.keys.is_number() || !dims.heads.is_number()) return;
  if (dims.keys.is(0) || *dims.heads.number() % *dims.keys.number() != 0)
    fail(ErrorCode::shape, "{} heads of values are no multiple of {} of keys", dims.heads.text(), dims.keys.text());
}

void infer_delta_net(Infer& node) {
  check_operands(node);
  for (const uint32_t output : {1U, 2U}) {
    if (node.wants(output)) node.set_dtype(output, DType::float32);
  }
  if (!node.is_ranked(0) || !node.is_ranked(node.has(2) ? 2 : kState)) return;
  const NetDims dims(node);
  check_heads(node, dims);
  Dims state = {dims.batch(node), dims.heads, dims.value, dims.key};
  for (size_t a = 0; a < state.size() && node.is_ranked(kState); ++a)
    state[a] = unify(node.dims(kState)[a], state[a], "dims of `initial_state`");
  Dims output = dims.tokens;
  output.insert(output.end(), {dims.heads, dims.value});
  node.set_dims(0, std::move(output));
  if (node.wants(2)) {
    const Dim each = dims.heads + dims.keys * dims.key + dims.heads * dims.value;
    node.set_dims(2, {state[0], dims.keys.is_number() ? Dim(capacity(node)) * each : Dim()});
  }
  if (node.wants(1)) node.set_dims(1, std::move(state));
}

// Tokens of several sequences that lie one behind the other, and a state for each sequence and head of values.
class DeltaNet {
 public:
  explicit DeltaNet(Eval& node) : node_(node), rule_(node), makes_gates_(node.string("gate_activation") == "qwen") {
    read_sizes();
    read_operands();
    if (node.flag("qk_l2_norm")) {
      normalize(query_data_);
      normalize(key_data_);
    }
    read_gates();
    scale_ = node.floating("scale");
    if (scale_ == 0) scale_ = 1 / std::sqrt(static_cast<double>(key_));
    states_.resize(batch_ * heads_ * key_ * value_);
    if (node.has(kState)) states_ = node.load<double>(kState);
    output_.resize(tokens_ * heads_ * value_);
    read_captures();
  }

  void run() {
    parallel_for(batch_ * heads_, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) run_head(i / heads_, i % heads_);
    });
    node_.store(0, std::move(output_));
    if (node_.wants(1)) node_.store(1, shape_of_states(), std::move(states_));
    if (!node_.wants(2)) return;
    const Shape shape = {static_cast<int64_t>(batch_), static_cast<int64_t>(captures_.size() / batch_)};
    node_.store(2, shape, std::move(captures_));
  }

 private:
  void read_operands() {
    query_data_ = node_.load<double>(0);
    if (node_.has(1)) {
      key_data_ = node_.load<double>(1);
      value_data_ = node_.load<double>(2);
      return;
    }
    const std::vector<double> packed = std::move(query_data_);
    query_data_.clear();
    const uint64_t pairs = keys_ * key_;
    const uint64_t width = 2 * pairs + heads_ * value_;
    for (uint64_t t = 0; t < tokens_; ++t) {
      const std::span<const double> row = std::span(packed).subspan(t * width, width);
      query_data_.insert(query_data_.end(), row.begin(), row.begin() + static_cast<ptrdiff_t>(pairs));
      key_data_.insert(key_data_.end(), row.begin() + static_cast<ptrdiff_t>(pairs),
                       row.begin() + static_cast<ptrdiff_t>(2 * pairs));
      value_data_.insert(value_data_.end(), row.begin() + static_cast<ptrdiff_t>(2 * pairs), row.end());
    }
  }

  void read_sizes() {
    const auto size = [&](uint32_t input, uint64_t from_end) {
      const Shape& shape = node_.shape(input);
      return static_cast<uint64_t>(shape[shape.size() - from_end]);
    };
    const bool is_packed = !node_.has(1);
    heads_ = is_packed ? size(kState, 3) : size(2, 2);
    value_ = is_packed ? size(kState, 2) : size(2, 1);
    key_ = is_packed ? size(kState, 1) : size(0, 1);
    const uint64_t width = size(0, 1);
    if (is_packed && (width < heads_ * value_ || key_ == 0 || (width - heads_ * value_) % (2 * key_) != 0))
      fail(ErrorCode::shape, "{} numbers of a token do not fit the state of {} heads, {} by {}", width, heads_, value_,
           key_);
    keys_ = is_packed ? (width - heads_ * value_) / (2 * key_) : size(0, 2);
    if (keys_ == 0 || heads_ == 0 || value_ == 0 || heads_ % keys_ != 0)
      fail(ErrorCode::shape, "{} heads of values are no multiple of {} of keys", heads_, keys_);
    tokens_ = node_.count(0) / (is_packed ? width : keys_ * key_);
    const auto rank = node_.rank(0) + (is_packed ? 1 : 0);
    batch_ = node_.has(kStarts)  ? node_.count(kStarts) - 1
             : node_.has(kState) ? size(kState, 4)
             : rank == 4         ? static_cast<uint64_t>(node_.shape(0)[0])
                                 : 1;
    read_starts();
  }

  void read_starts() {
    if (!node_.has(kStarts)) {
      if (batch_ == 0 || tokens_ % batch_ != 0)
        fail(ErrorCode::shape, "{} tokens are not {} sequences of one length", tokens_, batch_);
      for (uint64_t b = 0; b <= batch_; ++b) starts_.push_back(tokens_ / batch_ * b);
      return;
    }
    int64_t last = 0;
    for (const int64_t start : node_.integers_in(kStarts)) {
      if (start < last || start > static_cast<int64_t>(tokens_))
        fail(ErrorCode::shape, "`cu_seqlens` has {} behind {}, of {} tokens", start, last, tokens_);
      last = start;
      starts_.push_back(static_cast<uint64_t>(start));
    }
  }

  void normalize(std::vector<double>& vectors) const {
    for (uint64_t at = 0; at < vectors.size(); at += key_) {
      double sum = kEpsilon;
      for (uint64_t i = 0; i < key_; ++i) sum += vectors[at + i] * vectors[at + i];
      for (uint64_t i = 0; i < key_; ++i) vectors[at + i] /= std::sqrt(sum);
    }
  }

  void read_gates() {
    if (rule_.decays) decay_ = node_.load<double>(kDecay);
    if (makes_gates_) {
      const std::vector<double> logarithms = node_.load<double>(kLogarithms);
      const std::vector<double> bias = node_.load<double>(kGateBias);
      const uint64_t each = decay_.size() / std::max<uint64_t>(tokens_ * heads_, 1);
      for (uint64_t i = 0; i < decay_.size(); ++i) {
        const uint64_t h = i / each % heads_;
        decay_[i] = -std::exp(logarithms[h]) * softplus(decay_[i] + bias[h]);
      }
    }
    if (rule_.corrects) beta_ = node_.load<double>(kBeta);
    if (node_.string("beta_activation") == "none") return;
    for (double& rate : beta_) rate = sigmoid(rate);
  }

  void read_captures() {
    capacity_ = static_cast<uint64_t>(capacity(node_));
    captures_.resize(batch_ * capacity_ * (heads_ + keys_ * key_ + heads_ * value_));
    captured_.resize(batch_);
    if (capacity_ == 0 || (node_.has(kIsActive) && node_.integers_in(kIsActive)[0] == 0)) return;
    if (decay_.size() > tokens_ * heads_)
      fail(ErrorCode::shape, "updates of the state are told for one decay of a head only");
    const std::vector<int64_t> counts = node_.integers_in(kCaptured);
    for (uint64_t b = 0; b < batch_; ++b) {
      const uint64_t most = std::min(capacity_, starts_[b + 1] - starts_[b]);
      captured_[b] = static_cast<uint64_t>(std::clamp(counts[b], int64_t{0}, static_cast<int64_t>(most)));
    }
  }

  // States of this operator have a row for each element of a value.
  void run_head(uint64_t b, uint64_t h) {
    LinearState head(key_, value_);
    double* const kept = states_.data() + (b * heads_ + h) * key_ * value_;
    for (uint64_t i = 0; i < key_ * value_; ++i) head.state()[i] = kept[i % value_ * key_ + i / value_];
    for (uint64_t t = starts_[b]; t < starts_[b + 1]; ++t) step(head, b, h, t);
    for (uint64_t i = 0; i < key_ * value_; ++i) kept[i % value_ * key_ + i / value_] = head.state()[i];
  }

  void step(LinearState& head, uint64_t b, uint64_t h, uint64_t t) {
    const uint64_t shared = (t * keys_ + h / (heads_ / keys_)) * key_;
    const std::span<const double> key = std::span(key_data_).subspan(shared, key_);
    const std::span<const double> value = std::span(value_data_).subspan((t * heads_ + h) * value_, value_);
    const uint64_t gates = decay_.size() / (tokens_ * heads_);
    const std::span<const double> decay = std::span(decay_).subspan((t * heads_ + h) * gates, gates);
    if (rule_.decays) head.decay(decay);
    std::vector<double> added(value.begin(), value.end());
    if (rule_.corrects) {
      added = head.correct(key, value, beta_[t * heads_ + h]);
    } else {
      head.add(key, value);
    }
    capture(b, h, t - starts_[b], rule_.decays ? std::exp(decay[0]) : 1, key, added);
    const std::vector<double> sums = head.answer(std::span(query_data_).subspan(shared, key_));
    for (uint64_t v = 0; v < value_; ++v) output_[(t * heads_ + h) * value_ + v] = scale_ * sums[v];
  }

  // All factors of a sequence, then all keys, then all that was added.
  void capture(uint64_t b, uint64_t h, uint64_t at, double factor, std::span<const double> key,
               std::span<const double> added) {
    if (at >= captured_[b]) return;
    double* const row = captures_.data() + b * captures_.size() / batch_;
    row[at * heads_ + h] = factor;
    double* const keys = row + capacity_ * heads_;
    if (h % (heads_ / keys_) == 0) std::ranges::copy(key, keys + (at * keys_ + h / (heads_ / keys_)) * key_);
    std::ranges::copy(added, keys + (capacity_ * keys_ * key_ + (at * heads_ + h) * value_));
  }

  Shape shape_of_states() const {
    return {static_cast<int64_t>(batch_), static_cast<int64_t>(heads_), static_cast<int64_t>(value_),
            static_cast<int64_t>(key_)};
  }

  Eval& node_;
  DeltaRule rule_;
  bool makes_gates_;
  uint64_t keys_ = 0, heads_ = 0, key_ = 0, value_ = 0, tokens_ = 0, batch_ = 0, capacity_ = 0;
  std::vector<uint64_t> starts_, captured_;
  std::vector<double> query_data_, key_data_, value_data_, decay_, beta_, states_, output_, captures_;
  double scale_ = 1;
};

void eval_delta_net(Eval& node) { DeltaNet(node).run(); }

Dim macs_of_delta_net(const Infer& node) {
  if (!node.is_ranked(0) || !node.output(0).type.dims) return {};
  const Dim key = node.has(1) ? node.dims(0).back() : node.is_ranked(kState) ? node.dims(kState)[3] : Dim();
  return product(*node.output(0).type.dims) * key * Dim(3);
}

}  // namespace

OperatorRows operator_microsoft_delta_net() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "GatedDeltaNet",
       .traits = {Nature::recurrence, {.indices = {3}}},
       .infer = infer_delta_net,
       .eval = eval_delta_net,
       .macs = macs_of_delta_net},
  };
  return kRows;
}

}  // namespace assay::ops
