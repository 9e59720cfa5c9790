#include <algorithm>
#include <limits>

#include "ops/kernels/attention/sequences.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint32_t kPastKey = 3, kPastValue = 4, kRowBegins = 5, kColumns = 6, kTotal = 7, kEnds = 8, kCosines = 9,
                   kSines = 10;

void check_layouts(const Infer& node) {
  for (const uint32_t input : {kRowBegins, kColumns}) node.require_rank(input, 2);
  if (!node.is_ranked(kRowBegins) || !node.is_ranked(kColumns)) return;
  const Dim layouts = unify(node.dims(kRowBegins)[0], node.dims(kColumns)[0], "layouts of rows and columns");
  if (layouts.is_number() && (layouts.is(0) || counted(node, "num_heads") % *layouts.number() != 0))
    fail(ErrorCode::shape, "{} layouts do not divide the heads", layouts.text());
}

void check_caches(Infer& node, const Dim& batch, const Dim& size) {
  for (const uint32_t input : {kPastKey, kPastValue}) {
    node.require_rank(input, 4);
    if (!node.is_ranked(input)) continue;
    unify(node.dims(input)[0], batch, "batch sizes of past and query");
    unify(node.dims(input)[1], counted(node, "kv_num_heads"), "heads of the past and `kv_num_heads`");
    unify(node.dims(input)[3], size, "sizes of heads of past and query");
    node.set_dims(input - 2, node.dims(input));
  }
}

void infer_attention(Infer& node) {
  counted(node, "sparse_block_size");
  if (node.flag("do_rotary") && (!node.has(kCosines) || !node.has(kSines)))
    fail(ErrorCode::shape, "`do_rotary` needs caches of cosines and sines");
  check_layouts(node);
  node.require_rank(0, 3);
  for (const uint32_t input : {kCosines, kSines}) node.require_rank(input, 2);
  const Dim size = checked_head_size(node);
  if (!node.is_ranked(0)) return;
  const Dims& query = node.dims(0);
  if (node.is_ranked(kEnds)) unify(product(node.dims(kEnds)), query[0], "lengths and batch entries");
  check_caches(node, query[0], size);
  node.set_dims(0, {query[0], query[1], size * Dim(counted(node, "num_heads"))});
}

// Blocks of keys that blocks of queries see, as lists for each layout; heads take the layouts in turn.
class BlockMask {
 public:
  explicit BlockMask(const Eval& node)
      : size_(static_cast<uint64_t>(node.integer("sparse_block_size"))),
        layouts_(static_cast<uint64_t>(node.shape(kRowBegins)[0])),
        rows_(static_cast<uint64_t>(node.shape(kRowBegins)[1])),
        columns_(static_cast<uint64_t>(node.shape(kColumns)[1])),
        begins_(node.integers_in(kRowBegins)),
        blocks_(node.integers_in(kColumns)) {}

  // The keys that a query sees: in blocks of its row, and not behind it.
  std::vector<bool> seen(uint64_t head, uint64_t query, uint64_t keys) const {
    const uint64_t layout = head % layouts_;
    const uint64_t row = query / size_;
    if (row + 1 >= rows_) fail(ErrorCode::shape, "position {} lies behind the {} blocks of the mask", query, rows_ - 1);
    std::vector<bool> seen(keys);
    const int64_t begin = begins_[layout * rows_ + row];
    const int64_t end = begins_[layout * rows_ + row + 1];
    if (begin < 0 || begin > end || end > static_cast<int64_t>(columns_))
      fail(ErrorCode::shape, "a row of the mask goes from {} to {}", begin, end);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t block = blocks_[layout * columns_ + static_cast<uint64_t>(i)];
      if (block < 0) continue;
      const uint64_t first = static_cast<uint64_t>(block) * size_;
      for (uint64_t key = first; key < std::min({first + size_, query + 1, keys}); ++key) seen[key] = true;
    }
    return seen;
  }

 private:
  uint64_t size_, layouts_, rows_, columns_;
  std::vector<int64_t> begins_, blocks_;
};

// Sequences of one length that go on with those in linear caches.
class Sparse {
 public:
  explicit Sparse(Eval& node)
      : node_(node),
        batch_(static_cast<uint64_t>(node.shape(0)[0])),
        length_(static_cast<uint64_t>(node.shape(0)[1])),
        heads_(static_cast<uint64_t>(node.integer("num_heads"))),
        kv_heads_(static_cast<uint64_t>(node.integer("kv_num_heads"))),
        size_(static_cast<uint64_t>(node.shape(kPastKey)[3])),
        room_(static_cast<uint64_t>(node.shape(kPastKey)[2])),
        mask_(node),
        keys_(node.load<double>(kPastKey)),
        values_(node.load<double>(kPastValue)) {
    const bool is_prompt = node.scalar<int64_t>(kTotal, 0) == static_cast<int64_t>(length_);
    for (const int64_t end : node.integers_in(kEnds)) {
      if (end < 0 || static_cast<uint64_t>(end) > room_ || (!is_prompt && end < static_cast<int64_t>(length_)))
        fail(ErrorCode::shape, "a sequence has {} tokens, the caches have room for {}", end, room_);
      past_.push_back(is_prompt ? 0 : static_cast<uint64_t>(end) - length_);
    }
    if (length_ > room_) fail(ErrorCode::shape, "{} tokens do not fit caches of {}", length_, room_);
  }

  void run() {
    TokenTriple tokens = token_triple(node_, heads_, kv_heads_, size_);
    if (node_.flag("do_rotary")) turn(tokens);
    write(tokens.k, keys_);
    write(tokens.v, values_);
    std::vector<double> out;
    for (uint64_t b = 0; b < batch_; ++b) {
      const std::vector<double> mixed = attend_to(b, tokens.q);
      out.insert(out.end(), mixed.begin(), mixed.end());
    }
    node_.store(0, std::move(out));
    node_.store(1, std::move(keys_));
    node_.store(2, std::move(values_));
  }

 private:
  void turn(TokenTriple& tokens) const {
    const RowTurner turner(node_, kCosines, kSines);
    for (uint64_t t = 0; t < batch_ * length_; ++t) {
      turner.turn(tokens.q, t, past_[t / length_] + t % length_);
      turner.turn(tokens.k, t, past_[t / length_] + t % length_);
    }
  }

  void write(const TokenRows& rows, std::vector<double>& cache) const {
    for (uint64_t i = 0; i < rows.elements.size(); ++i) {
      const uint64_t t = i / rows.width();
      const uint64_t b = t / length_;
      const uint64_t h = i % rows.width() / size_;
      cache[((b * kv_heads_ + h) * room_ + past_[b] + t % length_) * size_ + i % size_] = rows.elements[i];
    }
  }

  // The tokens of a sequence in a cache, as [kv_heads, keys, size].
  std::vector<double> seen(uint64_t b, uint64_t count, const std::vector<double>& cache) const {
    std::vector<double> result;
    for (uint64_t h = 0; h < kv_heads_; ++h) {
      const auto from = cache.begin() + static_cast<ptrdiff_t>((b * kv_heads_ + h) * room_ * size_);
      result.insert(result.end(), from, from + static_cast<ptrdiff_t>(count * size_));
    }
    return result;
  }

  std::vector<double> attend_to(uint64_t b, const TokenRows& q) const {
    const uint64_t count = past_[b] + length_;
    const GroupedHeads heads{1, heads_, kv_heads_, {length_, count, size_, size_}};
    const auto weigh = [&](uint64_t, uint64_t h, uint64_t i, std::span<double> scores) {
      const std::vector<bool> is_seen = mask_.seen(h, past_[b] + i, count);
      for (uint64_t j = 0; j < count; ++j) {
        if (!is_seen[j]) scores[j] = -std::numeric_limits<double>::infinity();
      }
      softmax_row(scores, true);
    };
    return attend_sequence(heads, q.heads_of(b * length_, (b + 1) * length_), seen(b, count, keys_),
                           seen(b, count, values_), scale_of(node_, size_), weigh);
  }

  Eval& node_;
  uint64_t batch_, length_, heads_, kv_heads_, size_, room_;
  BlockMask mask_;
  std::vector<double> keys_, values_;
  std::vector<uint64_t> past_;
};

void eval_attention(Eval& node) { Sparse(node).run(); }

}  // namespace

OperatorRows operator_microsoft_sparse_attention() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "SparseAttention",
       .traits = {Nature::product, {.indices = {5, 6}}},
       .infer = infer_attention,
       .eval = eval_attention},
  };
  return kRows;
}

}  // namespace assay::ops
