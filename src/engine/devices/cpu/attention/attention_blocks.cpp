#include "engine/devices/cpu/attention/attention_blocks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <optional>

#include "base/parallel.h"
#include "engine/devices/cpu/attention/attention_masks.h"
#include "engine/devices/cpu/attention/attention_products.h"
#include "engine/devices/cpu/caches.h"
#include "engine/devices/cpu/parts.h"

namespace assay::engine::cpu {
namespace {

using Range = AttentionRange;
using Chunk = AttentionChunk;
using Scratch = AttentionScratch;
constexpr float kHidden = -std::numeric_limits<float>::infinity();
constexpr int64_t kKeys = Scratch::kKeys;
constexpr int64_t kFewQueries = 4;  // for which keys are not packed

class AttentionKernel final : public PlainKernel {
 public:
  explicit AttentionKernel(AttentionGeometry geometry)
      : operands_(std::move(geometry)),
        masks_(operands_),
        lanes_(thread_count()),
        chunk_(operands_.chunk()),
        float_products_(make_float_attention(operands_)),
        pair_products_(g_.may_round_weights ? make_pair_attention(operands_) : nullptr) {}

  uint64_t workspace_bytes() const override { return lanes_ * lane_bytes(); }

  void run(const Arguments& arguments) const override {
    const int64_t chunks = parts_of(g_.rows, chunk_);
    const int64_t pieces = operands_.item_count() * chunks;
    std::atomic<int64_t> next = 0;
    parallel_for(lanes_, 1, [&](uint64_t lane, uint64_t) {
      Scratch scratch(host<float>(arguments.workspace + lane * lane_bytes()), g_, chunk_);
      for (int64_t piece = next++; piece < pieces; piece = next++) {
        const int64_t first = piece % chunks * chunk_;
        const int64_t item = piece / chunks;
        run_chunk({arguments,
                   scratch,
                   item,
                   {first, std::min(first + chunk_, g_.rows)},
                   first == 0 && operands_.keys.are_kept_by(item),
                   first == 0 && operands_.values.are_kept_by(item)});
      }
      if (operands_.has_large_caches) settle_stores();
    });
  }

 private:
  uint64_t lane_bytes() const {
    return static_cast<uint64_t>(
        rounded_up(Scratch(nullptr, g_, chunk_).size * static_cast<int64_t>(sizeof(float)), 64));
  }
  const AttentionProducts& products() const { return pair_products_ ? *pair_products_ : *float_products_; }

  void run_chunk(const Chunk& chunk) const {
    std::fill_n(chunk.scratch.states, chunk.rows.size(), SoftmaxSoFar{kHidden, 0, 1});
    if (chunk.keeps_keys) operands_.keys.keep_columns(chunk.arguments, chunk.item);
    if (chunk.keeps_values) operands_.values.keep_columns(chunk.arguments, chunk.item);
    const int64_t seen = operands_.seen_by(chunk, chunk.rows.end - 1);
    int64_t key = 0;
    for (; key < seen; key += kKeys) {
      const Range keys{key, std::min(key + kKeys, g_.keys)};
      are_few(chunk.rows) ? run_few(chunk, keys) : run_many(chunk, keys);
    }
    if (chunk.keeps_keys) operands_.keys.keep_rest(chunk.arguments, chunk.item, key, chunk.scratch.keys);
    if (chunk.keeps_values) operands_.values.keep_rest(chunk.arguments, chunk.item, key, chunk.scratch.values);
    give_out(chunk);
  }

  bool are_few(Range rows) const { return rows.size() <= kFewQueries && operands_.keys.has_dense_rows(); }

  // Keys and values are read once.
  void run_few(const Chunk& chunk, Range keys) const {
    for (int64_t key = keys.begin; key < keys.end; key += AttentionRows::kStep)
      score_few(chunk, {key, std::min(key + AttentionRows::kStep, keys.end)}, keys.begin);
    weigh(chunk, *float_products_, chunk.rows, keys, masks_.read(chunk, chunk.rows, keys));
    for (int64_t key = keys.begin; key < keys.end; key += AttentionRows::kStep) {
      const Range some{key, std::min(key + AttentionRows::kStep, keys.end)};
      float_products_->read_values(chunk, some);
      float_products_->add_values(chunk, chunk.rows, {keys.begin, some.end});
    }
  }

  void run_many(const Chunk& chunk, Range keys) const {
    products().read_values(chunk, keys);
    products().read_keys(chunk, keys);
    auto reach = [&, known = std::optional<float>()]() mutable {
      if (!known) known = products().reach(chunk, keys);
      return *known;
    };
    for (int64_t row = chunk.rows.begin; row < chunk.rows.end; row += Scratch::kQueries) {
      const Range some{row, std::min(row + Scratch::kQueries, chunk.rows.end)};
      const Range seen{keys.begin, std::min(operands_.seen_by(chunk, some.end - 1), keys.end)};
      if (seen.size() <= 0) continue;
      const AttentionMasks::Rows masks = masks_.read(chunk, some, seen);
      const Range shown{keys.begin, keys.begin + masks_.count_shown(chunk, some, seen, {masks, reach})};
      products().score(chunk, some, shown.size());
      weigh(chunk, products(), some, shown, masks);
      products().add_values(chunk, some, shown);
    }
  }

  // Scores some keys of the block that begins with `block`.
  void score_few(const Chunk& chunk, Range keys, int64_t block) const {
    const std::array<FloatRows, 2> parts = operands_.read_keys(chunk, keys, chunk.scratch.keys);
    const FloatRows q = operands_.queries(chunk, chunk.rows);
    for (const FloatRows& k : parts) {
      for (int64_t r = 0; r < q.size(); ++r) {
        row_kernels().dot(q.first + r * q.row, k.first, k.row, static_cast<size_t>(g_.depth),
                          static_cast<size_t>(k.size()), chunk.scratch.scores + r * kKeys + (k.begin - block));
      }
    }
  }

  // Makes scores weights, and what has been summed up fit them.
  void weigh(const Chunk& chunk, const AttentionProducts& products, Range rows, Range keys,
             const AttentionMasks::Rows& masks) const {
    for (int64_t r = 0; r < rows.size(); ++r) {
      const int64_t row = rows.begin + r;
      const int64_t place = row - chunk.rows.begin;
      float* const scores = chunk.scratch.scores + r * kKeys;
      const int64_t seen = std::clamp<int64_t>(operands_.seen_by(chunk, row) - keys.begin, 0, keys.size());
      SoftmaxSoFar& state = chunk.scratch.states[place];
      state.factor = 1;
      masks_.replace(chunk, row, {keys.begin, keys.begin + seen}, scores);
      products.weigh({scores, masks.of(r), seen, keys.size(), state});
      if (keys.begin == 0 || state.factor == 1) continue;
      float* const sums = chunk.scratch.sums + place * operands_.width;
      row_kernels().scale(sums, state.factor, sums, static_cast<size_t>(operands_.width));
    }
  }

  void give_out(const Chunk& chunk) const {
    const int64_t bytes = float_bytes(g_.dtype);
    const int64_t first = element_of(g_.out, g_.items, chunk.item) + chunk.rows.begin * g_.out.row;
    for (int64_t r = 0; r < chunk.rows.size(); ++r) {
      auto* const out = host<std::byte>(chunk.arguments.outputs[0]) + (first + r * g_.out.row) * bytes;
      const SoftmaxSoFar& state = chunk.scratch.states[r];
      const bool sees_none = g_.zeroes_what_sees_none && state.greatest == kHidden;
      if (sees_none || (g_.zeroes_no_number && !(state.sum > 0))) {
        std::memset(out, 0, static_cast<size_t>(g_.width * bytes));
        continue;
      }
      float* const sums = chunk.scratch.sums + r * operands_.width;
      products().give_out(sums, 1 / state.sum, out);
    }
  }

  AttentionOperands operands_;
  const AttentionGeometry& g_ = operands_.g;
  AttentionMasks masks_;
  uint64_t lanes_;
  int64_t chunk_;  // queries
  std::unique_ptr<AttentionProducts> float_products_, pair_products_;
};

}  // namespace

void join_rows_of_heads(AttentionGeometry& g) {
  if (g.rows != 1 || g.items.empty() || g.k.items.back() != 0 || g.v.items.back() != 0) return;
  if (g.is_causal && !g.ends_with_last && g.past + 1 < g.keys) return;  // each row would see one key more
  uint64_t left = 1;
  for (size_t i = 0; i + 1 < g.items.size(); ++i) left *= static_cast<uint64_t>(g.items[i]);
  if (left < thread_count()) return;
  g.is_causal = false;
  g.rows = g.items.back();
  g.items.pop_back();
  for (Matrices* const matrices : {&g.q, &g.mask, &g.conditions, &g.last_key, &g.out}) {
    if (matrices->items.empty()) continue;
    matrices->row = matrices->items.back();
    matrices->items.pop_back();
  }
  for (Matrices* const matrices : {&g.k, &g.v, &g.k_cache.past, &g.k_cache.kept, &g.v_cache.past, &g.v_cache.kept}) {
    if (!matrices->items.empty()) matrices->items.pop_back();
  }
}

std::unique_ptr<PlainKernel> make_attention(AttentionGeometry geometry) {
  return std::make_unique<AttentionKernel>(std::move(geometry));
}

}  // namespace assay::engine::cpu
