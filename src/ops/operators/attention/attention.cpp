#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/kernels/attention/attention_bias.h"
#include "ops/kernels/attention/heads.h"
#include "ops/kernels/attention/scaled_scores.h"
#include "ops/kernels/elements/known_dims.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void check_attributes(const Node& node) {
  const int64_t mode = node.integer("qk_matmul_output_mode");
  if (mode < 0 || mode > 3) fail(ErrorCode::shape, "attribute `qk_matmul_output_mode` is {}, expected 0 to 3", mode);
  attention_window(node, "left_window_size");
  attention_window(node, "right_window_size");
  const int64_t precision = node.integer("softmax_precision", 1);
  if (precision != 1 && precision != 10 && precision != 11 && precision != 16) {
    fail(ErrorCode::shape, "attribute `softmax_precision` is {}, expected 1, 10, 11 or 16", precision);
  }
}

// Keys or values with what the cache holds before them.
struct Cached {
  HeadDims own;
  Dim length;  // with the past
};

Cached with_past(const Infer& node, uint32_t input, uint32_t past) {
  HeadDims own = head_dims(node, input, "kv_num_heads");
  if (!node.has(past)) return {own, own.length};
  node.require_rank(past, 4);
  if (!node.is_ranked(past)) return {own, Dim()};
  const Dims& dims = node.dims(past);
  own.batch = unify(own.batch, dims[0], "batch sizes of past and input");
  own.heads = unify(own.heads, dims[1], "heads of past and input");
  own.size = unify(own.size, dims[3], "head sizes of past and input");
  const Dims lengths = {own.length, dims[2]};
  const Dim length = lengths[0] + lengths[1];
  require_known(lengths, std::span(&length, 1));
  return {own, length};
}

void check_mask(const Infer& node, const Dims& scores) {
  if (!node.has(AttentionInputs::kMask) || !node.is_ranked(AttentionInputs::kMask)) return;
  const Dims& mask = node.dims(AttentionInputs::kMask);
  bool fits = !mask.empty() && mask.size() <= 4;
  for (size_t i = 0; fits && i < mask.size(); ++i) {
    const Dim& own = mask[mask.size() - 1 - i];
    const Dim& other = scores[3 - i];
    const bool is_known = own.is_number() && other.is_number();
    fits = !is_known || (i == 0 ? *own.number() <= *other.number() : own.is(1) || own.equals(other));
  }
  if (!fits) fail(ErrorCode::shape, "the mask of shape {} does not fit scores of shape {}", text(mask), text(scores));
}

void check_cache(const Infer& node, const Dim& batch) {
  if (!node.has(AttentionInputs::kValidKeys)) return;
  if (node.has(AttentionInputs::kPastKey))
    fail(ErrorCode::shape, "nonpad_kv_seqlen and a past cannot be given together");
  node.require_rank(AttentionInputs::kValidKeys, 1);
  if (node.is_ranked(AttentionInputs::kValidKeys))
    unify(node.dims(AttentionInputs::kValidKeys)[0], batch, "batch size and length of nonpad_kv_seqlen");
}

void infer_attention(Infer& node) {
  check_attributes(node);
  if (node.has(AttentionInputs::kPastKey) != node.has(AttentionInputs::kPastValue)) {
    fail(ErrorCode::shape, "past_key and past_value must be given together");
  }
  if (!node.is_ranked(0) || !node.is_ranked(1) || !node.is_ranked(2)) return;
  node.require_rank(1, node.rank(0));
  node.require_rank(2, node.rank(0));
  const HeadDims q = head_dims(node, 0, "q_num_heads");
  const Cached k = with_past(node, 1, AttentionInputs::kPastKey);
  const Cached v = with_past(node, 2, AttentionInputs::kPastValue);
  const Dim batch = unify(unify(q.batch, k.own.batch, "batch sizes"), v.own.batch, "batch sizes");
  const Dim heads = unify(k.own.heads, v.own.heads, "heads of keys and values");
  const Dim size = unify(q.size, k.own.size, "head sizes of queries and keys");
  const Dim keys = unify(k.length, v.length, "lengths of keys and values");
  if (q.heads.is_number() && heads.is_number() && (heads.is(0) || *q.heads.number() % *heads.number() != 0)) {
    fail(ErrorCode::shape, "{} heads of queries are no multiple of {} heads of keys", q.heads.text(), heads.text());
  }
  check_cache(node, batch);
  const Dims scores = {batch, q.heads, q.length, keys};
  check_mask(node, scores);
  node.set_dims(0, packed_like(node, 0, {batch, q.heads, q.length, v.own.size}));
  node.set_dims(1, {batch, heads, keys, size});
  node.set_dims(2, {batch, heads, keys, v.own.size});
  node.set_dims(3, scores);
}

Dim macs_of_attention(const Infer& node) {
  if (!node.is_ranked(0) || !node.is_ranked(1) || !node.is_ranked(2)) return {};
  const HeadDims q = head_dims(node, 0, "q_num_heads");
  const Cached k = with_past(node, 1, AttentionInputs::kPastKey);
  const Cached v = with_past(node, 2, AttentionInputs::kPastValue);
  return q.batch * q.heads * q.length * k.length * (q.size + v.own.size);
}

// [batch, heads, past + new, size]
std::vector<double> joined(const Eval& node, uint32_t input, uint32_t past, const HeadLayout& layout) {
  std::vector<double> own = unpack_heads(node.load<double>(input), layout);
  if (!node.has(past)) return own;
  const std::vector<double> before = node.load<double>(past);
  const uint64_t old_run = static_cast<uint64_t>(node.shape(past)[2]) * layout.size;
  const uint64_t new_run = layout.length * layout.size;
  std::vector<double> result;
  result.reserve(own.size() + before.size());
  for (uint64_t h = 0; h < layout.batch * layout.heads; ++h) {
    const auto old_begin = before.begin() + static_cast<ptrdiff_t>(h * old_run);
    const auto new_begin = own.begin() + static_cast<ptrdiff_t>(h * new_run);
    result.insert(result.end(), old_begin, old_begin + static_cast<ptrdiff_t>(old_run));
    result.insert(result.end(), new_begin, new_begin + static_cast<ptrdiff_t>(new_run));
  }
  return result;
}

// From scores to weights, row by row; `shown` gets what the fourth output shows.
class Weights {
 public:
  Weights(const Eval& node, const Shape& scores)
      : bias_(node, scores), softcap_(node.floating("softcap")), mode_(node.integer("qk_matmul_output_mode")) {}

  void row(uint64_t b, uint64_t head, uint64_t i, std::span<double> scores, double* shown) const {
    const auto show = [&](int64_t mode) {
      if (shown && mode == mode_) std::ranges::copy(scores, shown);
    };
    show(0);
    if (softcap_ > 0) {
      for (double& x : scores) x = softcap_ * std::tanh(x / softcap_);
    }
    show(1);
    std::vector<double> bias(scores.size());
    bias_.row(b, head, i, bias);
    for (size_t j = 0; j < scores.size(); ++j) scores[j] += bias[j];
    show(2);
    const bool sees_none = std::ranges::all_of(bias, [](double x) { return x == AttentionBias::kMasked; });
    if (sees_none) std::ranges::fill(scores, AttentionBias::kMasked);
    softmax_row(scores, true);
    show(3);
  }

 private:
  AttentionBias bias_;
  double softcap_;
  int64_t mode_;
};

void eval_attention(Eval& node) {
  const HeadLayout q_layout(node.shape(0), node.integer("q_num_heads", 1));
  const HeadLayout k_layout(node.shape(1), node.integer("kv_num_heads", 1));
  const HeadLayout v_layout(node.shape(2), node.integer("kv_num_heads", 1));
  const std::vector<double> q = unpack_heads(node.load<double>(0), q_layout);
  std::vector<double> k = joined(node, 1, AttentionInputs::kPastKey, k_layout);
  std::vector<double> v = joined(node, 2, AttentionInputs::kPastValue, v_layout);
  const uint64_t past =
      node.has(AttentionInputs::kPastKey) ? static_cast<uint64_t>(node.shape(AttentionInputs::kPastKey)[2]) : 0;
  const AttentionHead head{q_layout.length, k_layout.length + past, q_layout.size, v_layout.size};
  const Shape shape = {static_cast<int64_t>(q_layout.batch), static_cast<int64_t>(q_layout.heads),
                       static_cast<int64_t>(head.queries), static_cast<int64_t>(head.keys)};
  const Weights weights(node, shape);
  const double scale = node.floating("scale", 1 / std::sqrt(static_cast<double>(head.size)));
  const uint64_t heads = q_layout.batch * q_layout.heads;
  std::vector<double> shown(node.wants(3) ? heads * head.queries * head.keys : 0);
  std::vector<double> scores(head.queries * head.keys);
  std::vector<double> out(heads * head.queries * head.value_size);
  for (uint64_t h = 0; h < heads; ++h) {
    const uint64_t b = h / q_layout.heads;
    const uint64_t kv = b * k_layout.heads + h % q_layout.heads / (q_layout.heads / k_layout.heads);
    score_head(head, q.data() + h * head.queries * head.size, k.data() + kv * head.keys * head.size, scale,
               scores.data());
    parallel_for(head.queries, 16, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) {
        weights.row(b, h, i, std::span(scores).subspan(i * head.keys, head.keys),
                    shown.empty() ? nullptr : shown.data() + (h * head.queries + i) * head.keys);
      }
    });
    mix_values(head, scores.data(), v.data() + kv * head.keys * head.value_size,
               out.data() + h * head.queries * head.value_size);
  }
  HeadLayout out_layout = q_layout;
  out_layout.size = head.value_size;
  node.store(0, pack_heads(out, out_layout));
  node.store(1, std::move(k));
  node.store(2, std::move(v));
  node.store(3, std::move(shown));
}

}  // namespace

OperatorRows operator_attention_attention() {
  static constexpr Operator kRows[] = {
      {.name = "Attention",
       .since = 23,
       .traits = {Nature::product},
       .infer = infer_attention,
       .eval = eval_attention,
       .macs = macs_of_attention},
  };
  return kRows;
}

}  // namespace assay::ops
