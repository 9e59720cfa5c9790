#include <algorithm>
#include <cmath>

#include "ops/kernels/attention/sequences.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kKeyCache = 3, kValueCache = 4, kBounds = 5, kPast = 6, kBlocks = 7, kCosines = 8, kSines = 9,
                   kSlots = 10, kSink = 11, kQueryNorm = 12, kKeyNorm = 13;

void refuse_forms(const Infer& node) {
  if (node.string("kv_cache_layout") != "SEPARATE") fail(ErrorCode::unsupported, "latent caches are not supported");
  const bool is_quantized = node.string("k_quant_type") != "NONE" || node.string("v_quant_type") != "NONE";
  if (is_quantized) fail(ErrorCode::unsupported, "quantized caches are not supported");
  if (node.integer("rotary_offset", 0) != 0) fail(ErrorCode::unsupported, "`rotary_offset` is not supported");
}

void check_caches(const Infer& node, const Dim& size) {
  for (const uint32_t input : {kKeyCache, kValueCache}) {
    node.require_rank(input, 4);
    if (!node.is_ranked(input)) continue;
    unify(node.dims(input)[2], counted(node, "kv_num_heads"), "heads of the cache and `kv_num_heads`");
    unify(node.dims(input)[3], size, "sizes of heads of cache and query");
  }
}

void check_lists(const Infer& node) {
  for (const uint32_t input : {kBounds, kPast, kSlots, kSink, kQueryNorm, kKeyNorm}) node.require_rank(input, 1);
  for (const uint32_t input : {kBlocks, kCosines, kSines}) node.require_rank(input, 2);
  if (node.is_ranked(kPast) && node.is_ranked(kBounds))
    unify(node.dims(kBounds)[0], node.dims(kPast)[0] + Dim(1), "ends of sequences and past lengths");
  if (node.is_ranked(kPast) && node.is_ranked(kBlocks))
    unify(node.dims(kBlocks)[0], node.dims(kPast)[0], "rows of blocks and past lengths");
  if (node.is_ranked(kSlots) && node.is_ranked(0)) unify(node.dims(kSlots)[0], node.dims(0)[0], "slots and tokens");
  if (node.has(kQueryNorm) != node.has(kKeyNorm))
    fail(ErrorCode::shape, "weights of the norms of queries and keys must be given together");
  if (node.flag("do_rotary") && (!node.has(kCosines) || !node.has(kSines)))
    fail(ErrorCode::shape, "`do_rotary` needs caches of cosines and sines");
}

void infer_attention(Infer& node) {
  refuse_forms(node);
  node.require_rank(0, 2);
  check_lists(node);
  for (const uint32_t output : {1U, 2U}) {
    const uint32_t cache = output == 1 ? kKeyCache : kValueCache;
    if (node.wants(output) && node.is_ranked(cache)) node.set_dims(output, node.dims(cache));
  }
  const Dim size = checked_head_size(node);
  check_caches(node, size);
  const Dim width = size * Dim(counted(node, "num_heads"));
  node.set_dims(0, {node.is_ranked(0) ? node.dims(0)[0] : Dim(), width});
}

// Sequences whose keys and values lie in blocks of caches; the block table tells which.
class Paged {
 public:
  explicit Paged(Eval& node)
      : node_(node),
        tokens_(static_cast<uint64_t>(node.shape(0)[0])),
        heads_(static_cast<uint64_t>(node.integer("num_heads"))),
        kv_heads_(static_cast<uint64_t>(node.integer("kv_num_heads"))),
        size_(static_cast<uint64_t>(node.shape(kKeyCache)[3])),
        block_(static_cast<uint64_t>(node.shape(kKeyCache)[1])),
        places_(static_cast<uint64_t>(node.shape(kKeyCache)[0]) * block_),
        bounds_(sequence_bounds(node, kBounds, tokens_)),
        past_(node.integers_in(kPast)),
        table_(node.integers_in(kBlocks)),
        keys_(node.load<double>(kKeyCache)),
        values_(node.load<double>(kValueCache)) {}

  void run() {
    TokenTriple tokens = token_triple(node_, heads_, kv_heads_, size_);
    normalize(kQueryNorm, tokens.q);
    normalize(kKeyNorm, tokens.k);
    if (node_.flag("do_rotary")) turn(tokens);
    for (uint64_t b = 0; b + 1 < bounds_.size(); ++b) {
      write(b, tokens.k, keys_);
      write(b, tokens.v, values_);
    }
    std::vector<double> out;
    for (uint64_t b = 0; b + 1 < bounds_.size(); ++b) {
      const std::vector<double> mixed = attend_to(b, tokens.q);
      out.insert(out.end(), mixed.begin(), mixed.end());
    }
    node_.store(0, std::move(out));
    if (node_.wants(1)) node_.store(1, std::move(keys_));
    if (node_.wants(2)) node_.store(2, std::move(values_));
  }

 private:
  void normalize(uint32_t weights, TokenRows& rows) const {
    if (!node_.has(weights)) return;
    const std::vector<double> factors = node_.load<double>(weights);
    const double epsilon = node_.floating("qk_norm_epsilon", 1e-6);
    for (uint64_t first = 0; first < rows.elements.size(); first += size_) {
      double squares = 0;
      for (uint64_t i = 0; i < size_; ++i) squares += rows.elements[first + i] * rows.elements[first + i];
      const double root = std::sqrt(squares / static_cast<double>(size_) + epsilon);
      for (uint64_t i = 0; i < size_; ++i) rows.elements[first + i] = rows.elements[first + i] / root * factors.at(i);
    }
  }

  uint64_t past(uint64_t b) const {
    if (past_[b] < 0) fail(ErrorCode::shape, "a past length is {}", past_[b]);
    return static_cast<uint64_t>(past_[b]);
  }

  void turn(TokenTriple& tokens) const {
    const RowTurner turner(node_, kCosines, kSines);
    for (uint64_t b = 0; b + 1 < bounds_.size(); ++b) {
      for (uint64_t t = bounds_[b]; t < bounds_[b + 1]; ++t) {
        turner.turn(tokens.q, t, past(b) + t - bounds_[b]);
        turner.turn(tokens.k, t, past(b) + t - bounds_[b]);
      }
    }
  }

  // The place of a position of a sequence in the caches.
  uint64_t place(uint64_t b, uint64_t position) const {
    const auto width = static_cast<uint64_t>(node_.shape(kBlocks)[1]);
    if (position / block_ >= width)
      fail(ErrorCode::shape, "position {} lies behind the {} blocks of its sequence", position, width);
    return checked(table_[b * width + position / block_] * static_cast<int64_t>(block_) +
                   static_cast<int64_t>(position % block_));
  }

  uint64_t checked(int64_t place) const {
    if (place < 0 || static_cast<uint64_t>(place) >= places_)
      fail(ErrorCode::shape, "place {} is not in caches of {}", place, places_);
    return static_cast<uint64_t>(place);
  }

  void write(uint64_t b, const TokenRows& rows, std::vector<double>& cache) const {
    const std::vector<int64_t> slots = node_.has(kSlots) ? node_.integers_in(kSlots) : std::vector<int64_t>();
    const uint64_t width = kv_heads_ * size_;
    for (uint64_t t = bounds_[b]; t < bounds_[b + 1]; ++t) {
      if (!slots.empty() && slots[t] == -1) continue;
      const uint64_t to = slots.empty() ? place(b, past(b) + t - bounds_[b]) : checked(slots[t]);
      std::copy_n(rows.elements.begin() + static_cast<ptrdiff_t>(t * width), width,
                  cache.begin() + static_cast<ptrdiff_t>(to * width));
    }
  }

  // Rows of a cache that a sequence sees, as [kv_heads, keys, size].
  std::vector<double> seen(uint64_t b, uint64_t count, const std::vector<double>& cache) const {
    TokenRows rows{kv_heads_, size_, {}};
    for (uint64_t at = 0; at < count; ++at) {
      const auto from = cache.begin() + static_cast<ptrdiff_t>(place(b, at) * rows.width());
      rows.elements.insert(rows.elements.end(), from, from + static_cast<ptrdiff_t>(rows.width()));
    }
    return rows.heads_of(0, count);
  }

  std::vector<double> attend_to(uint64_t b, const TokenRows& q) const {
    const uint64_t queries = bounds_[b + 1] - bounds_[b];
    const uint64_t count = past(b) + queries;
    const GroupedHeads heads{1, heads_, kv_heads_, {queries, count, size_, size_}};
    const auto weigh = [&](uint64_t, uint64_t h, uint64_t i, std::span<double> scores) {
      weigh_row(h, past(b) + i + 1, scores);
    };
    return attend_sequence(heads, q.heads_of(bounds_[b], bounds_[b + 1]), seen(b, count, keys_),
                           seen(b, count, values_), scale_of(node_, size_), weigh);
  }

  // A query sees the tokens up to itself, or all; a window bounds how far it looks back.
  void weigh_row(uint64_t h, uint64_t after, std::span<double> scores) const {
    const int64_t window = node_.integer("local_window_size");
    const uint64_t end = node_.flag("is_causal") ? after : scores.size();
    const uint64_t begin =
        window < 0 || static_cast<uint64_t>(window) >= after ? 0 : after - static_cast<uint64_t>(window);
    const double softcap = node_.floating("softcap", 0);
    std::vector<double> row(scores.begin() + static_cast<ptrdiff_t>(begin),
                            scores.begin() + static_cast<ptrdiff_t>(end));
    for (double& score : row) score = softcap > 0 ? softcap * std::tanh(score / softcap) : score;
    if (node_.has(kSink)) row.push_back(node_.load<double>(kSink).at(h));
    softmax_row(row, true);
    std::ranges::fill(scores, 0.0);
    std::copy_n(row.begin(), end - begin, scores.begin() + static_cast<ptrdiff_t>(begin));
  }

  Eval& node_;
  uint64_t tokens_, heads_, kv_heads_, size_, block_, places_;
  std::vector<uint64_t> bounds_;
  std::vector<int64_t> past_, table_;
  std::vector<double> keys_, values_;
};

void eval_attention(Eval& node) { Paged(node).run(); }

}  // namespace

OperatorRows operator_microsoft_paged_attention() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "PagedAttention",
       .traits = {Nature::product, {.indices = {5, 6, 7}}},
       .infer = infer_attention,
       .eval = eval_attention},
  };
  return kRows;
}

}  // namespace assay::ops
