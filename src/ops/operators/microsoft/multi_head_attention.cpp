#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "ops/kernels/attention/heads.h"
#include "ops/kernels/attention/scaled_scores.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kBias = 3;
constexpr uint32_t kMask = 4;
constexpr uint32_t kAddend = 5;
constexpr uint32_t kPast = 6;  // keys, then values

Dim sequence_of(const Infer& node, uint32_t input) { return node.dims(input)[node.rank(input) == 4 ? 2 : 1]; }

void check_known_forms(const Infer& node) {
  if (!node.has(1) || !node.has(2)) fail(ErrorCode::unsupported, "packed keys and values are not supported");
  if (node.has(8) || node.has(9))
    fail(ErrorCode::unsupported, "shared buffers and cache indirection are not supported");
  if (node.has(kPast) != node.has(kPast + 1)) fail(ErrorCode::shape, "past keys and values must both be given");
  if (node.integer("num_heads") < 1) fail(ErrorCode::shape, "`num_heads` is {}", node.integer("num_heads"));
  node.require_rank(0, 3);
  node.require_rank(kPast, 4);
  node.require_rank(kPast + 1, 4);
}

void infer_attention(Infer& node) {
  check_known_forms(node);
  if (!node.is_ranked(0) || !node.is_ranked(1) || !node.is_ranked(2)) return;
  const HeadDims q = head_dims(node, 0, "num_heads");
  const HeadDims k = head_dims(node, 1, "num_heads");
  const HeadDims v = head_dims(node, 2, "num_heads");
  unify(unify(q.batch, k.batch, "batch sizes"), v.batch, "batch sizes");
  unify(q.size, k.size, "sizes of heads of query and key");
  const Dim keys = unify(k.length, v.length, "lengths of key and value");
  const Dim past = node.has(kPast) ? (node.is_ranked(kPast) ? sequence_of(node, kPast) : Dim()) : Dim(0);
  const Dim total = past + keys;
  if (node.is_ranked(kBias)) {
    node.require_rank(kBias, 1);
    unify(node.dims(kBias)[0], q.heads * (q.size + k.size + v.size),
          "the length of the bias and the widths of its parts");
  }
  if (node.is_ranked(kAddend)) broadcast(Dims{q.batch, q.heads, q.length, total}, node.dims(kAddend));
  node.set_dims(0, {q.batch, q.length, q.heads * v.size});
  node.set_dims(1, {q.batch, q.heads, total, k.size});
  node.set_dims(2, {q.batch, q.heads, total, v.size});
  node.set_dims(3, {q.batch, q.heads, q.length, total});
  if (node.wants(3)) node.set_dtype(3, node.dtype(0));
}

// Heads of an input in the order [batch, heads, length, size], its part of the bias added.
std::vector<double> load_heads(const Eval& node, uint32_t input, const HeadLayout& layout, uint64_t bias_from) {
  std::vector<double> elements = unpack_heads(node.load<double>(input), layout);
  if (!node.has(kBias)) return elements;
  const std::vector<double> bias = node.load<double>(kBias);
  for (uint64_t i = 0; i < elements.size(); ++i) {
    const uint64_t head = i / (layout.size * layout.length) % layout.heads;
    elements[i] += bias[bias_from + head * layout.size + i % layout.size];
  }
  return elements;
}

// The earlier vectors of each head, and the new ones behind them.
std::vector<double> with_past(const Eval& node, uint32_t past, std::vector<double> fresh, uint64_t vectors) {
  if (!node.has(past) || vectors == 0) return fresh;
  const std::vector<double> old = node.load<double>(past);
  std::vector<double> all;
  for (uint64_t i = 0; i < vectors; ++i) {
    const auto part = [&](const std::vector<double>& from) {
      const uint64_t length = from.size() / vectors;
      all.insert(all.end(), from.begin() + static_cast<ptrdiff_t>(i * length),
                 from.begin() + static_cast<ptrdiff_t>((i + 1) * length));
    };
    part(old);
    part(fresh);
  }
  return all;
}

// The addends of the scores: [batch, heads, queries, keys].
class Addends {
 public:
  Addends(const Eval& node, const Shape& scores) : scores_(scores), filler_(filler_of(node)) {
    if (node.has(kAddend)) addend_ = broadcast_of(node, kAddend, scores);
    if (!node.has(kMask)) return;
    mask_ = node.integers_in(kMask);
    mask_rank_ = node.rank(kMask);
    is_list_ = mask_rank_ == 1;
    check_mask(node.shape(kMask));
  }

  double at(uint64_t b, uint64_t h, uint64_t q, uint64_t k) const {
    const auto n = [&](size_t axis) { return static_cast<uint64_t>(scores_[axis]); };
    const double added = addend_.empty() ? 0 : addend_[((b * n(1) + h) * n(2) + q) * n(3) + k];
    if (mask_.empty()) return added;
    const bool is_kept = is_list_          ? static_cast<int64_t>(k) < mask_[b]
                         : mask_rank_ == 2 ? mask_[b * n(3) + k] != 0
                                           : mask_[(b * n(2) + q) * n(3) + k] != 0;
    return is_kept ? added : added + filler_;
  }

 private:
  static double filler_of(const Eval& node) { return node.floating("mask_filter_value", -10000); }

  static std::vector<double> broadcast_of(const Eval& node, uint32_t input, const Shape& to) {
    std::vector<double> elements(*tensor::element_count(to));
    BroadcastReader(node.tensor_in(input), to).read(0, std::span(elements));
    return elements;
  }

  void check_mask(const Shape& shape) const {
    const bool fits = shape == Shape{scores_[0]} || shape == Shape{scores_[0], scores_[3]} ||
                      shape == Shape{scores_[0], scores_[2], scores_[3]};
    if (!fits)
      fail(ErrorCode::shape, "a mask of shape {} does not fit scores of shape {}", text(dims_of(shape)),
           text(dims_of(scores_)));
  }

  Shape scores_;
  double filler_;
  std::vector<double> addend_;
  std::vector<int64_t> mask_;
  int64_t mask_rank_ = 0;
  bool is_list_ = false;
};

struct Heads {
  AttentionHead head;
  uint64_t batch = 0;
  uint64_t heads = 0;
  std::vector<double> q, k, v;
};

Heads load_all(const Eval& node) {
  const int64_t count = node.integer("num_heads");
  const HeadLayout q(node.shape(0), count);
  const HeadLayout k(node.shape(1), count);
  const HeadLayout v(node.shape(2), count);
  const uint64_t width = q.heads * q.size;
  Heads all{{q.length, 0, q.size, v.size}, q.batch, q.heads, load_heads(node, 0, q, 0), {}, {}};
  const uint64_t vectors = q.batch * q.heads;
  all.k = with_past(node, kPast, load_heads(node, 1, k, width), vectors);
  all.v = with_past(node, kPast + 1, load_heads(node, 2, v, width + k.heads * k.size), vectors);
  all.head.keys = k.length + (node.has(kPast) ? static_cast<uint64_t>(node.shape(kPast)[2]) : 0);
  return all;
}

// A query may see the keys up to its own place, the last query being at the last key.
void hide_future(const AttentionHead& head, std::span<double> scores) {
  for (uint64_t q = 0; q < head.queries; ++q) {
    for (uint64_t k = q + 1 + head.keys - std::min(head.queries, head.keys); k < head.keys; ++k) {
      scores[q * head.keys + k] = -std::numeric_limits<double>::infinity();
    }
  }
}

void eval_attention(Eval& node) {
  const Heads all = load_all(node);
  const AttentionHead& head = all.head;
  const auto size = [](uint64_t n) { return static_cast<int64_t>(n); };
  const Addends addends(node, {size(all.batch), size(all.heads), size(head.queries), size(head.keys)});
  const double given = node.floating("scale", 0);
  const double scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(head.size));
  std::vector<double> mixed(all.batch * all.heads * head.queries * head.value_size);
  std::vector<double> products(all.batch * all.heads * head.queries * head.keys);
  parallel_for(all.batch * all.heads, 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; ++at) {
      const std::span<double> scores =
          std::span(products).subspan(at * head.queries * head.keys, head.queries * head.keys);
      score_head(head, all.q.data() + at * head.queries * head.size, all.k.data() + at * head.keys * head.size, scale,
                 scores.data());
      for (uint64_t i = 0; i < scores.size(); ++i) {
        scores[i] += addends.at(at / all.heads, at % all.heads, i / head.keys, i % head.keys);
      }
      std::vector<double> weights(scores.begin(), scores.end());
      if (node.flag("unidirectional")) hide_future(head, weights);
      for (uint64_t q = 0; q < head.queries; ++q)
        softmax_row(std::span(weights).subspan(q * head.keys, head.keys), true);
      mix_values(head, weights.data(), all.v.data() + at * head.keys * head.value_size,
                 mixed.data() + at * head.queries * head.value_size);
    }
  });
  node.store(0, pack_heads(mixed, HeadLayout(node.out_shape(0), size(all.heads))));
  if (node.wants(1)) node.store(1, all.k);
  if (node.wants(2)) node.store(2, all.v);
  if (node.wants(3)) node.store(3, std::move(products));
}

Dim macs_of_attention(const Infer& node) {
  if (!node.output(0).type.dims || !node.is_ranked(0) || !node.is_ranked(1) || !node.is_ranked(2)) return {};
  const Dims& out = *node.output(0).type.dims;
  const Dim past = node.has(kPast) ? (node.is_ranked(kPast) ? sequence_of(node, kPast) : Dim()) : Dim(0);
  return product(node.dims(0)) * (sequence_of(node, 1) + past) + product(out) * (sequence_of(node, 1) + past);
}

}  // namespace

OperatorRows operator_microsoft_multi_head_attention() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "MultiHeadAttention",
       .traits = {Nature::product},
       .infer = infer_attention,
       .eval = eval_attention,
       .macs = macs_of_attention},
  };
  return kRows;
}

}  // namespace assay::ops
