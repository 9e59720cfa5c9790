#include "engine/devices/cpu/attention/attention_blocks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>

#include "base/parallel.h"
#include "engine/devices/cpu/caches.h"
#include "engine/devices/cpu/panels/panel_kernels.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();
constexpr int64_t kColumns = static_cast<int64_t>(kPanel);
constexpr int64_t kQueries = 16;    // whose scores are computed at a time
constexpr int64_t kChunk = 128;     // queries that keys are packed for
constexpr int64_t kKeys = 256;      // of a block
constexpr int64_t kFewQueries = 4;  // for which keys are not packed

int64_t whole_panels(int64_t columns) { return rounded_up(columns, kColumns); }

constexpr int64_t kSquare = 4;

// Rows of four numbers become columns of a panel.
void turn_square(const float* from, int64_t row, float* to) {
  using Four [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(4)]] = float;
  const auto at = [&](int64_t i) -> Four { return *reinterpret_cast<const Four*>(from + i * row); };
  const Four a = __builtin_shufflevector(at(0), at(1), 0, 4, 1, 5);
  const Four b = __builtin_shufflevector(at(2), at(3), 0, 4, 1, 5);
  const Four c = __builtin_shufflevector(at(0), at(1), 2, 6, 3, 7);
  const Four d = __builtin_shufflevector(at(2), at(3), 2, 6, 3, 7);
  *reinterpret_cast<Four*>(to) = __builtin_shufflevector(a, b, 0, 1, 4, 5);
  *reinterpret_cast<Four*>(to + kColumns) = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  *reinterpret_cast<Four*>(to + 2 * kColumns) = __builtin_shufflevector(c, d, 0, 1, 4, 5);
  *reinterpret_cast<Four*>(to + 3 * kColumns) = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

// Memory of a lane.
struct Scratch {
  float *sums, *scores, *keys, *values, *rows, *mask;
  SoftmaxSoFar* states;

  static int64_t count(const AttentionGeometry& g) {
    const int64_t width = whole_panels(g.width);
    return kChunk * width + kQueries * kKeys + (kKeys + kColumns) * g.depth + kKeys * width + kKeys + kChunk * 3;
  }
  Scratch(float* memory, const AttentionGeometry& g) : sums(memory) {
    const int64_t width = whole_panels(g.width);
    scores = sums + kChunk * width;
    keys = scores + kQueries * kKeys;
    values = keys + kKeys * g.depth;
    rows = values + kKeys * width;
    mask = rows + kColumns * g.depth;
    states = reinterpret_cast<SoftmaxSoFar*>(mask + kKeys);
  }
};

class AttentionKernel final : public PlainKernel {
 public:
  explicit AttentionKernel(AttentionGeometry geometry)
      : g_(std::move(geometry)),
        width_(whole_panels(g_.width)),
        lanes_(thread_count()),
        keys_({g_.dtype, g_.items, g_.keys, g_.depth}, g_.k, g_.k_cache),
        values_({g_.dtype, g_.items, g_.keys, g_.width}, g_.v, g_.v_cache) {}

  uint64_t workspace_bytes() const override { return lanes_ * lane_bytes(); }

  void run(const Arguments& arguments) const override {
    const int64_t chunks = (g_.rows + kChunk - 1) / kChunk;
    const int64_t pieces = item_count() * chunks;
    std::atomic<int64_t> next = 0;
    parallel_for(lanes_, 1, [&](uint64_t lane, uint64_t) {
      const Scratch scratch(host<float>(arguments.workspace + lane * lane_bytes()), g_);
      for (int64_t piece = next++; piece < pieces; piece = next++) {
        const int64_t first = piece % chunks * kChunk;
        const int64_t item = piece / chunks;
        run_chunk({arguments,
                   scratch,
                   item,
                   {first, std::min(first + kChunk, g_.rows)},
                   first == 0 && keys_.are_kept_by(item),
                   first == 0 && values_.are_kept_by(item)});
      }
      if (g_.k_cache.is_large) settle_stores();
    });
  }

 private:
  struct Range {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
  };
  // Rows of an item.
  struct Chunk {
    const Arguments& arguments;
    const Scratch& scratch;
    int64_t item;
    Range rows;
    bool keeps_keys, keeps_values;
  };
  bool is_widened() const { return g_.dtype != tensor::DType::float32; }

  int64_t item_count() const {
    int64_t count = 1;
    for (const int64_t dim : g_.items) count *= dim;
    return count;
  }
  const std::byte* place(const Matrices& matrices, const Chunk& chunk, int64_t row, int64_t element_bytes) const {
    const int64_t element = element_of(matrices, g_.items, chunk.item) + row * matrices.row;
    return first_byte(matrices, chunk.arguments) + element * element_bytes;
  }
  template <typename T>
  const T* at(const Matrices& matrices, const Chunk& chunk) const {
    return reinterpret_cast<const T*>(place(matrices, chunk, 0, sizeof(T)));
  }

  // Queries where they are, or widened.
  FloatRows queries(const Chunk& chunk, Range rows) const {
    const int64_t bytes = float_bytes(g_.dtype);
    const std::byte* const from = place(g_.q, chunk, rows.begin, bytes);
    if (!is_widened()) return {reinterpret_cast<const float*>(from), g_.q.row, 1, rows.begin, rows.end};
    float* const tile = chunk.scratch.rows;
    for (int64_t r = 0; r < rows.size(); ++r)
      read_floats(g_.dtype, from + r * g_.q.row * bytes, tile + r * g_.depth, static_cast<size_t>(g_.depth));
    return {tile, g_.depth, 1, rows.begin, rows.end};
  }
  std::array<FloatRows, 2> read_keys(const Chunk& chunk, Range keys, float* tile) const {
    return keys_.read(chunk.arguments, {chunk.item, keys.begin, keys.end, chunk.keeps_keys, tile, g_.depth});
  }

  uint64_t lane_bytes() const { return (static_cast<uint64_t>(Scratch::count(g_)) * sizeof(float) + 63) / 64 * 64; }

  // How many of the first keys a row sees.
  int64_t seen_by(const Chunk& chunk, int64_t row) const {
    int64_t limit = g_.keys;
    if (g_.last_key.exist()) limit = std::min<int64_t>(limit, *at<int32_t>(g_.last_key, chunk) + 1);
    if (!g_.is_causal) return limit;
    const int64_t past = g_.ends_with_last ? limit - g_.rows : g_.past;
    return std::clamp<int64_t>(past + row + 1, 0, limit);
  }

  void run_chunk(const Chunk& chunk) const {
    std::fill_n(chunk.scratch.states, chunk.rows.size(), SoftmaxSoFar{kHidden, 0, 1});
    if (chunk.keeps_keys) keys_.keep_columns(chunk.arguments, chunk.item);
    if (chunk.keeps_values) values_.keep_columns(chunk.arguments, chunk.item);
    const int64_t seen = seen_by(chunk, chunk.rows.end - 1);
    int64_t key = 0;
    for (; key < seen; key += kKeys) {
      const Range keys{key, std::min(key + kKeys, g_.keys)};
      are_few(chunk.rows) ? run_few(chunk, keys) : run_many(chunk, keys);
    }
    if (chunk.keeps_keys) keys_.keep_rest(chunk.arguments, chunk.item, key, chunk.scratch.keys);
    if (chunk.keeps_values) values_.keep_rest(chunk.arguments, chunk.item, key, chunk.scratch.values);
    give_out(chunk);
  }

  bool are_few(Range rows) const { return rows.size() <= kFewQueries && keys_.has_dense_rows(); }

  // Keys and values are read once.
  void run_few(const Chunk& chunk, Range keys) const {
    for (int64_t key = keys.begin; key < keys.end; key += AttentionRows::kStep)
      score_few(chunk, {key, std::min(key + AttentionRows::kStep, keys.end)}, keys.begin);
    weigh(chunk, chunk.rows, keys);
    for (int64_t key = keys.begin; key < keys.end; key += AttentionRows::kStep) {
      const Range some{key, std::min(key + AttentionRows::kStep, keys.end)};
      for (const FloatRows& values : read_values(chunk, some)) add_values(chunk, chunk.rows, values, keys.begin);
    }
  }

  void run_many(const Chunk& chunk, Range keys) const {
    const std::array<FloatRows, 2> values = read_values(chunk, keys);
    pack_keys(chunk, keys);
    for (int64_t row = chunk.rows.begin; row < chunk.rows.end; row += kQueries) {
      const Range some{row, std::min(row + kQueries, chunk.rows.end)};
      if (seen_by(chunk, some.end - 1) <= keys.begin) continue;
      score(chunk, some, keys);
      weigh(chunk, some, keys);
      for (const FloatRows& part : values) add_values(chunk, some, part, keys.begin);
    }
  }

  // Panels of keys, with zeros beyond the last.
  void pack_keys(const Chunk& chunk, Range keys) const {
    for (int64_t first = keys.begin; first < keys.end; first += kColumns) {
      const Range some{first, std::min(first + kColumns, keys.end)};
      float* const panel = chunk.scratch.keys + (first - keys.begin) * g_.depth;
      if (some.size() < kColumns) std::fill_n(panel, g_.depth * kColumns, 0.0F);
      if (is_widened() && g_.k.column != 1) {
        widen_columns(place(g_.k, chunk, first, float_bytes(g_.dtype)), some.size(), panel);
        continue;
      }
      for (const FloatRows& part : read_keys(chunk, some, chunk.scratch.rows))
        turn(part, part.size(), panel + (part.begin - first));
    }
  }

  // Of keys that are neighbours.
  void widen_columns(const std::byte* from, int64_t count, float* panel) const {
    const int64_t step = g_.k.column * float_bytes(g_.dtype);
    for (int64_t k = 0; k < g_.depth; ++k)
      read_floats(g_.dtype, from + k * step, panel + k * kColumns, static_cast<size_t>(count));
  }

  void turn(const FloatRows& keys, int64_t count, float* panel) const {
    const bool has_squares = keys.column == 1;
    const int64_t whole_depth = has_squares ? g_.depth / kSquare * kSquare : 0;
    const int64_t whole_count = has_squares ? count / kSquare * kSquare : 0;
    for (int64_t c = 0; c < whole_count; c += kSquare) {
      for (int64_t k = 0; k < whole_depth; k += kSquare) {
        turn_square(keys.first + c * keys.row + k, keys.row, panel + k * kColumns + c);
      }
    }
    for (int64_t k = 0; k < g_.depth; ++k) {
      for (int64_t c = k < whole_depth ? whole_count : 0; c < count; ++c) {
        panel[k * kColumns + c] = keys.first[c * keys.row + k * keys.column];
      }
    }
  }

  // Rows of whole panels: where they are, or copied.
  std::array<FloatRows, 2> read_values(const Chunk& chunk, Range keys) const {
    float* const tile = chunk.scratch.values;
    const bool lie_as_panels = width_ == g_.width && values_.lie_in_rows();
    if (!lie_as_panels) std::fill_n(tile, keys.size() * width_, 0.0F);
    const std::array<FloatRows, 2> parts =
        values_.read(chunk.arguments, {chunk.item, keys.begin, keys.end, chunk.keeps_values, tile, width_});
    if (lie_as_panels) return parts;
    for (const FloatRows& part : parts) {
      float* const rows = tile + (part.begin - keys.begin) * width_;
      if (part.first == rows) continue;
      for (int64_t r = 0; r < part.size(); ++r) {
        for (int64_t c = 0; c < g_.width; ++c) rows[r * width_ + c] = part.first[r * part.row + c * part.column];
      }
    }
    return {FloatRows{tile, width_, 1, keys.begin, keys.end}, {}};
  }

  // Of some keys of the block that begins with `block`.
  void score_few(const Chunk& chunk, Range keys, int64_t block) const {
    const std::array<FloatRows, 2> parts = read_keys(chunk, keys, chunk.scratch.keys);
    const FloatRows q = queries(chunk, chunk.rows);
    for (const FloatRows& k : parts) {
      for (int64_t r = 0; r < q.size(); ++r) {
        row_kernels().dot(q.first + r * q.row, k.first, k.row, static_cast<size_t>(g_.depth),
                          static_cast<size_t>(k.size()), chunk.scratch.scores + r * kKeys + (k.begin - block));
      }
    }
  }

  void score(const Chunk& chunk, Range rows, Range keys) const {
    const FloatRows q = queries(chunk, rows);
    for (int64_t c = 0; c < keys.size(); c += kColumns) {
      panel_kernels().multiply({.left = q.first,
                                .left_row = q.row,
                                .out = chunk.scratch.scores + c,
                                .out_row = kKeys,
                                .rows = static_cast<size_t>(rows.size()),
                                .depth = static_cast<size_t>(g_.depth),
                                .adds = false},
                               chunk.scratch.keys + c * g_.depth, kColumns);
    }
  }

  // Makes scores weights, and what has been summed up fit them.
  void weigh(const Chunk& chunk, Range rows, Range keys) const {
    for (int64_t r = 0; r < rows.size(); ++r) {
      const int64_t row = rows.begin + r;
      const int64_t place = row - chunk.rows.begin;
      float* const scores = chunk.scratch.scores + r * kKeys;
      const int64_t seen = std::clamp<int64_t>(seen_by(chunk, row) - keys.begin, 0, keys.size());
      std::fill(scores + seen, scores + keys.size(), 0.0F);
      if (seen == 0) continue;
      SoftmaxSoFar& state = chunk.scratch.states[place];
      row_kernels().softmax_block(scores, mask_row(chunk, row, {keys.begin, keys.begin + seen}, scores),
                                  static_cast<size_t>(seen), g_.scale, g_.divides, state);
      if (keys.begin == 0 || state.factor == 1) continue;
      float* const sums = chunk.scratch.sums + place * width_;
      row_kernels().scale(sums, state.factor, sums, static_cast<size_t>(width_));
    }
  }

  // What is added to the scores of a row; null: nothing. Scores in whose place that comes become 0.
  const float* mask_row(const Chunk& chunk, int64_t row, Range keys, float* scores) const {
    const float* added = nullptr;
    float* const mask = chunk.scratch.mask;
    if (g_.mask.exist()) {
      const int64_t bytes = float_bytes(g_.dtype);
      const std::byte* const from = place(g_.mask, chunk, row, bytes) + keys.begin * bytes;
      added = read_floats(g_.dtype, from, mask, static_cast<size_t>(keys.size()));
    }
    if (!g_.conditions.exist()) return added;
    const uint8_t* const conditions = at<uint8_t>(g_.conditions, chunk) + row * g_.conditions.row + keys.begin;
    for (int64_t i = 0; i < keys.size(); ++i) {
      const bool is_hidden = (conditions[i] != 0) == g_.hidden_where;
      mask[i] = (added == nullptr ? 0 : added[i]) + (is_hidden ? g_.hidden : 0);
      if (is_hidden && g_.replaces) scores[i] = 0;
    }
    return mask;
  }

  // Of some keys of the block that begins with `block`.
  void add_values(const Chunk& chunk, Range rows, const FloatRows& values, int64_t block) const {
    if (values.size() <= 0) return;
    for (int64_t c = 0; c < width_; c += kColumns) {
      panel_kernels().multiply({.left = chunk.scratch.scores + (values.begin - block),
                                .left_row = kKeys,
                                .out = chunk.scratch.sums + (rows.begin - chunk.rows.begin) * width_ + c,
                                .out_row = width_,
                                .rows = static_cast<size_t>(rows.size()),
                                .depth = static_cast<size_t>(values.size()),
                                .adds = values.begin != 0},
                               values.first + c, values.row);
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
      float* const sums = chunk.scratch.sums + r * width_;
      const auto width = static_cast<size_t>(g_.width);
      row_kernels().scale(sums, 1 / state.sum, place_floats(g_.dtype, out, sums), width);
      write_floats(g_.dtype, sums, out, width);
    }
  }

  AttentionGeometry g_;
  int64_t width_;
  uint64_t lanes_;
  AttentionRows keys_, values_;
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

void set_cache_sizes(AttentionGeometry& g) {
  constexpr int64_t kLargeBytes = 1 << 17;
  int64_t bytes = 0;
  for (const auto& [cache, width] : {std::pair(&g.k_cache, g.depth), std::pair(&g.v_cache, g.width)}) {
    int64_t count = cache->kept.exist() ? g.keys * width * float_bytes(cache->kept_type) : 0;
    for (size_t i = 0; i < g.items.size(); ++i) count *= count == 0 || cache->kept.items[i] == 0 ? 1 : g.items[i];
    bytes += count;
  }
  g.k_cache.is_large = g.v_cache.is_large = bytes >= kLargeBytes;
}

std::unique_ptr<PlainKernel> make_attention(AttentionGeometry geometry) {
  return std::make_unique<AttentionKernel>(std::move(geometry));
}

}  // namespace assay::engine::cpu
