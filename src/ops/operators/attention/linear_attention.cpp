#include <cmath>

#include "base/parallel.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kPastState = 3, kDecay = 4, kBeta = 5;

struct Rule {
  bool has_decay = false;
  bool has_beta = false;
};

Rule rule_of(const Node& node) {
  const std::string_view word = node.string("update_rule");
  if (word == "linear") return {};
  if (word == "gated") return {true, false};
  if (word == "delta") return {false, true};
  if (word == "gated_delta") return {true, true};
  fail(ErrorCode::shape, "attribute `update_rule` is `{}`, expected linear, gated, delta or gated_delta", word);
}

int64_t heads_of(const Node& node, std::string_view name) {
  const int64_t heads = node.integer(name);
  if (heads < 1) fail(ErrorCode::shape, "attribute `{}` is {}", name, heads);
  return heads;
}

void require_as_ruled(const Infer& node, uint32_t input, bool is_needed, std::string_view name) {
  if (node.has(input) == is_needed) return;
  fail(ErrorCode::shape, "update rule `{}` {} the input `{}`", node.string("update_rule"),
       is_needed ? "needs" : "does not take", name);
}

Dim head_size(const Infer& node, uint32_t input, int64_t heads) {
  if (!node.is_ranked(input)) return {};
  const Dim& hidden = node.dims(input)[2];
  if (hidden.is_number() && *hidden.number() % heads != 0) {
    fail(ErrorCode::shape, "{} heads do not divide the last dim of {}", heads, text(node.dims(input)));
  }
  return floor_div(hidden, heads);
}

// Error where the last dim is known and is none of two.
void check_last(const Infer& node, uint32_t input, const Dim& one, const Dim& other) {
  if (!node.has(input) || !node.is_ranked(input)) return;
  const Dim& last = node.dims(input)[2];
  const bool is_known = last.is_number() && one.is_number() && other.is_number();
  if (is_known && !last.equals(one) && !last.equals(other)) {
    fail(ErrorCode::shape, "the last dim of input {} is {}, expected {} or {}", input, last.text(), one.text(),
         other.text());
  }
}

void infer_linear_attention(Infer& node) {
  const Rule rule = rule_of(node);
  require_as_ruled(node, kDecay, rule.has_decay, "decay");
  require_as_ruled(node, kBeta, rule.has_beta, "beta");
  const int64_t q_heads = heads_of(node, "q_num_heads");
  const int64_t kv_heads = heads_of(node, "kv_num_heads");
  if (q_heads % kv_heads != 0) {
    fail(ErrorCode::shape, "q_num_heads {} is no multiple of kv_num_heads {}", q_heads, kv_heads);
  }
  Dim batch;
  Dim length;
  for (const uint32_t input : {0U, 1U, 2U, kDecay, kBeta}) {
    node.require_rank(input, 3);
    if (!node.is_ranked(input)) continue;
    batch = unify(batch, node.dims(input)[0], "batch sizes");
    length = unify(length, node.dims(input)[1], "lengths");
  }
  const Dim key_size = unify(head_size(node, 0, q_heads), head_size(node, 1, kv_heads), "head sizes of query and key");
  const Dim value_size = head_size(node, 2, kv_heads);
  check_last(node, kDecay, kv_heads, key_size * Dim(kv_heads));
  check_last(node, kBeta, kv_heads, 1);
  Dims state = {batch, kv_heads, key_size, value_size};
  node.require_rank(kPastState, 4);
  for (size_t i = 0; node.is_ranked(kPastState) && i < 4; ++i) {
    state[i] = unify(state[i], node.dims(kPastState)[i], "dims of the past state and of what it continues");
  }
  node.set_dims(0, {batch, length, value_size * Dim(q_heads)});
  if (!node.has(kPastState) && node.output_count() > 1) node.set_dtype(1, node.dtype(0));
  node.set_dims(1, std::move(state));
}

Dim macs_of_linear_attention(const Infer& node) {
  if (!node.is_ranked(0) || !node.output(0).type.dims) return {};
  const Dims& out = *node.output(0).type.dims;
  return out[0] * out[1] * floor_div(node.dims(0)[2], heads_of(node, "q_num_heads")) * out[2] * Dim(2);
}

// The recurrence of one head of keys and values, and what the heads of queries that share it read.
class Recurrence {
 public:
  explicit Recurrence(Eval& node)
      : rule(rule_of(node)),
        q_heads(static_cast<uint64_t>(heads_of(node, "q_num_heads"))),
        kv_heads(static_cast<uint64_t>(heads_of(node, "kv_num_heads"))),
        length(static_cast<uint64_t>(node.shape(0)[1])),
        keys(static_cast<uint64_t>(node.shape(0)[2]) / q_heads),
        values(static_cast<uint64_t>(node.shape(2)[2]) / kv_heads),
        q(node.load<double>(0)),
        k(node.load<double>(1)),
        v(node.load<double>(2)) {
    if (rule.has_decay) decay = node.load<double>(kDecay);
    if (rule.has_beta) beta = node.load<double>(kBeta);
    decay_width = rule.has_decay ? static_cast<uint64_t>(node.shape(kDecay)[2]) : 0;
    beta_width = rule.has_beta ? static_cast<uint64_t>(node.shape(kBeta)[2]) : 0;
    const double written = node.floating("scale");
    scale = written == 0 ? 1 / std::sqrt(static_cast<double>(keys)) : written;
  }

  // State [keys, values] of head `h` of batch entry `b`, from before the first token to after the last.
  void run(uint64_t b, uint64_t h, double* state, double* out) const {
    std::vector<double> update(values);
    for (uint64_t t = 0; t < length; ++t) {
      const uint64_t row = b * length + t;
      const double* key = k.data() + (row * kv_heads + h) * keys;
      if (rule.has_decay) fade(row, h, state);
      std::copy_n(v.data() + (row * kv_heads + h) * values, values, update.begin());
      if (rule.has_beta) correct(beta[row * beta_width + (beta_width == 1 ? 0 : h)], key, state, update);
      for (uint64_t d = 0; d < keys; ++d) {
        for (uint64_t m = 0; m < values; ++m) state[d * values + m] += key[d] * update[m];
      }
      const uint64_t shared = q_heads / kv_heads;
      for (uint64_t i = h * shared; i < (h + 1) * shared; ++i) read(row, i, state, out);
    }
  }

  const Rule rule;
  const uint64_t q_heads, kv_heads, length, keys, values;

 private:
  void fade(uint64_t row, uint64_t h, double* state) const {
    const bool is_per_key = decay_width != kv_heads;
    for (uint64_t d = 0; d < keys; ++d) {
      const double factor = std::exp(decay[row * decay_width + (is_per_key ? h * keys + d : h)]);
      for (uint64_t m = 0; m < values; ++m) state[d * values + m] *= factor;
    }
  }

  // Takes off what the state already gives for the key.
  void correct(double rate, const double* key, const double* state, std::vector<double>& update) const {
    for (uint64_t m = 0; m < values; ++m) {
      double known = 0;
      for (uint64_t d = 0; d < keys; ++d) known += state[d * values + m] * key[d];
      update[m] = rate * (update[m] - known);
    }
  }

  void read(uint64_t row, uint64_t head, const double* state, double* out) const {
    const double* query = q.data() + (row * q_heads + head) * keys;
    for (uint64_t m = 0; m < values; ++m) {
      double sum = 0;
      for (uint64_t d = 0; d < keys; ++d) sum += query[d] * state[d * values + m];
      out[(row * q_heads + head) * values + m] = scale * sum;
    }
  }

  std::vector<double> q, k, v, decay, beta;
  uint64_t decay_width = 0;
  uint64_t beta_width = 0;
  double scale = 1;
};

void eval_linear_attention(Eval& node) {
  const Recurrence recurrence(node);
  const auto batch = static_cast<uint64_t>(node.shape(0)[0]);
  const uint64_t size = recurrence.keys * recurrence.values;
  const uint64_t heads = batch * recurrence.kv_heads;
  std::vector<double> state = node.has(kPastState) ? node.load<double>(kPastState) : std::vector<double>(heads * size);
  std::vector<double> out(node.out_count(0));
  parallel_for(heads, 1, [&](uint64_t h, uint64_t) {
    recurrence.run(h / recurrence.kv_heads, h % recurrence.kv_heads, state.data() + h * size, out.data());
  });
  node.store(0, std::move(out));
  node.store(1, std::move(state));
}

}  // namespace

OperatorRows operator_attention_linear_attention() {
  static constexpr Operator kRows[] = {
      {.name = "LinearAttention",
       .since = 27,
       .traits = {Nature::product},
       .infer = infer_linear_attention,
       .eval = eval_linear_attention,
       .macs = macs_of_linear_attention},
  };
  return kRows;
}

}  // namespace assay::ops
