#include <algorithm>
#include <cmath>

#include "ops/kernels/attention/group_query.h"
#include "ops/kernels/attention/grouped_attention.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

using In = GroupQueryInputs;

constexpr uint32_t kScoresOutput = 3;

void check_codes(const Infer& node) {
  CacheCodes(node, "k_quant_type").check(node, In::kPastKey, In::kKeyScale);
  CacheCodes(node, "v_quant_type").check(node, In::kPastValue, In::kValueScale);
  if (node.flag("sliding_window_cache")) fail(ErrorCode::unsupported, "caches of a window's size are not supported");
}

void check_attributes(const Infer& node) {
  const int64_t shown = node.integer("qk_output");
  if (shown < 0 || shown > 2) fail(ErrorCode::shape, "attribute `qk_output` is {}, expected 0, 1 or 2", shown);
  if (shown == 0 && node.wants(kScoresOutput)) fail(ErrorCode::shape, "output 3 needs the attribute `qk_output`");
  const int64_t causal = node.integer("causal");
  if (causal != 0 && causal != 1) fail(ErrorCode::shape, "attribute `causal` is {}, expected 0 or 1", causal);
  if (causal == 0 && node.integer("local_window_size") != -1)
    fail(ErrorCode::shape, "attribute `local_window_size` needs `causal`");
  if (node.has(In::kQueryNorm) != node.has(In::kKeyNorm))
    fail(ErrorCode::shape, "weights of the norms of queries and keys must be given together");
  check_codes(node);
}

void check_caches_of_angles(const Infer& node, const GroupQueryDims& dims) {
  if (!node.flag("do_rotary")) return;
  if (!node.has(In::kCosines) || !node.has(In::kSines))
    fail(ErrorCode::shape, "`do_rotary` needs caches of cosines and sines");
  for (const uint32_t input : {In::kCosines, In::kSines}) {
    node.require_rank(input, 2);
    if (!node.is_ranked(input)) continue;
    const Dim& half = node.dims(input)[1];
    if (half.is_number() && dims.size.is_number() && *half.number() > *dims.size.number() / 2)
      fail(ErrorCode::shape, "{} pairs are to be turned, a head has {} elements", half.text(), dims.size.text());
  }
  if (node.is_ranked(In::kCosines) && node.is_ranked(In::kSines)) {
    for (size_t a = 0; a < 2; ++a) unify(node.dims(In::kCosines)[a], node.dims(In::kSines)[a], "dims of the caches");
  }
  node.require_rank(In::kPositions, 2);
  if (!node.is_ranked(In::kPositions)) return;
  unify(node.dims(In::kPositions)[0], dims.batch, "batch sizes of positions and query");
  unify(node.dims(In::kPositions)[1], dims.length, "lengths of positions and query");
}

void check_vector(const Infer& node, uint32_t input, const Dim& length) {
  node.require_rank(input, 1);
  if (node.is_ranked(input)) unify(node.dims(input)[0], length, "the length of a vector and what it is for");
}

void infer_attention(Infer& node) {
  check_attributes(node);
  const GroupQueryDims dims = group_query_dims(node);
  check_caches_of_angles(node, dims);
  if (node.is_ranked(In::kLast)) unify(product(node.dims(In::kLast)), dims.batch, "lengths and batch entries");
  check_vector(node, In::kSink, dims.heads);
  check_vector(node, In::kQueryNorm, dims.size);
  check_vector(node, In::kKeyNorm, dims.size);
  const Dims scores = {dims.batch, dims.heads, dims.length, dims.total};
  node.require_rank(In::kAddend, 4);
  for (size_t a = 0; a < 4 && node.is_ranked(In::kAddend); ++a) {
    const bool is_spread = a < 2 && node.dims(In::kAddend)[a].is(1);
    if (!is_spread) unify(node.dims(In::kAddend)[a], scores[a], "dims of the attention bias and of the scores");
  }
  const bool continues = dims.total.is_number() && dims.length.is_number() && !dims.total.equals(dims.length);
  if (continues && *dims.length.number() > 1 && dims.batch.is_number() && *dims.batch.number() > 1)
    fail(ErrorCode::shape, "a batch of {} goes on by one token at a time, not by {}", dims.batch.text(),
         dims.length.text());
  node.set_dims(0, {dims.batch, dims.length, dims.size * Dim(dims.heads)});
  for (const uint32_t output : {1U, 2U}) {
    const CacheCodes codes(node, output == 1 ? "k_quant_type" : "v_quant_type");
    node.set_dims(output, {dims.batch, dims.kv_heads, dims.present, codes.width(dims.size)});
    if (!node.wants(output)) continue;
    if (codes.are_used())
      node.set_dtype(output, codes.dtype());
    else if (!node.has(In::kPastKey))
      node.set_dtype(output, node.dtype(0));
  }
  node.set_dims(kScoresOutput, scores);
}

// Scores become weights: a query sees the tokens before it, or those of a window that ends with it, or all.
class Weigher {
 public:
  Weigher(const Eval& node, const GroupQuery& what)
      : what_(what),
        softcap_(node.floating("softcap", 0)),
        window_(node.integer("local_window_size")),
        is_causal_(node.flag("causal")),
        shown_(node.wants(kScoresOutput) ? node.integer("qk_output") : 0) {
    if (node.has(In::kSink)) {
      sinks_ = node.load<double>(In::kSink);
    } else if (node.integer("smooth_softmax") == 1) {
      sinks_.assign(what.heads, 0);
    }
    const uint64_t count = what.batch * what.heads * what.length * what.total;
    if (shown_ != 0) shown_scores.resize(count);
    if (!node.has(In::kAddend)) return;
    const auto size = [](uint64_t n) { return static_cast<int64_t>(n); };
    addend_.resize(count);
    const Shape shape = {size(what.batch), size(what.heads), size(what.length), size(what.total)};
    BroadcastReader(node.tensor_in(In::kAddend), shape).read(0, std::span(addend_));
  }

  void operator()(uint64_t b, uint64_t h, uint64_t i, std::span<double> scores) {
    const uint64_t after = what_.past(b) + i + 1;
    const uint64_t end = is_causal_ ? std::min(after, what_.end(b)) : what_.end(b);
    const auto width = static_cast<uint64_t>(window_);
    const uint64_t begin = window_ < 0 || width >= after ? 0 : std::min(after - width, end);
    const uint64_t row = ((b * what_.heads + h) * what_.length + i) * what_.total;
    const std::span<double> seen = scores.subspan(begin, end - begin);
    for (uint64_t j = 0; j < seen.size(); ++j) {
      if (softcap_ > 0) seen[j] = softcap_ * std::tanh(seen[j] / softcap_);
      if (!addend_.empty()) seen[j] += addend_[row + begin + j];
    }
    if (shown_ == 1) std::ranges::copy(seen, shown_scores.begin() + static_cast<ptrdiff_t>(row + begin));
    soften(seen, h);
    if (shown_ == 2) std::ranges::copy(seen, shown_scores.begin() + static_cast<ptrdiff_t>(row + begin));
    std::ranges::fill(scores.first(begin), 0.0);
    std::ranges::fill(scores.subspan(end), 0.0);
  }

  std::vector<double> shown_scores;

 private:
  // Softmax with one more score, the head's sink, that takes its share and gives nothing.
  void soften(std::span<double> row, uint64_t h) const {
    if (sinks_.empty() || row.empty()) return softmax_row(row, true);
    const double top = std::max(*std::ranges::max_element(row), sinks_[h]);
    double sum = std::exp(sinks_[h] - top);
    for (double& x : row) sum += x = std::exp(x - top);
    for (double& x : row) x /= sum;
  }

  const GroupQuery& what_;
  double softcap_;
  int64_t window_;
  bool is_causal_;
  int64_t shown_;
  std::vector<double> sinks_, addend_;
};

void store_cache(Eval& node, uint32_t output, std::vector<double> numbers, const CacheCodes& codes, uint64_t length) {
  if (!node.wants(output)) return;
  if (codes.are_used()) return node.store(output, codes.encoded(numbers, length));
  node.store(output, std::move(numbers));
}

void eval_attention(Eval& node) {
  GroupQuery what(node);
  const GroupedHeads heads{what.batch, what.heads, what.kv_heads, {what.length, what.present, what.size, what.size}};
  const double written = node.floating("scale", 0);
  const double scale = written == 0 ? 1 / std::sqrt(static_cast<double>(what.size)) : written;
  Weigher weigher(node, what);
  node.store(0, pack_attended(attend(heads, what.q, what.k, what.v, scale, weigher), heads));
  store_cache(node, 1, std::move(what.k), what.key_codes, what.present);
  store_cache(node, 2, std::move(what.v), what.value_codes, what.present);
  if (node.wants(kScoresOutput)) node.store(kScoresOutput, std::move(weigher.shown_scores));
}

Dim macs_of_attention(const Infer& node) {
  const GroupQueryDims dims = group_query_dims(node);
  return dims.batch * Dim(dims.heads) * dims.length * dims.total * dims.size * Dim(2);
}

}  // namespace

OperatorRows operator_microsoft_group_query_attention() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "GroupQueryAttention",
       .traits = {Nature::product},
       .infer = infer_attention,
       .eval = eval_attention,
       .macs = macs_of_attention},
  };
  return kRows;
}

}  // namespace assay::ops
