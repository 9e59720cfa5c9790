#include "engine/devices/cpu/attention_blocks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>

#include "base/parallel.h"
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
      : g_(std::move(geometry)), width_(whole_panels(g_.width)), lanes_(thread_count()) {}

  uint64_t workspace_bytes() const override { return lanes_ * lane_bytes(); }

  void run(const Arguments& arguments) const override {
    const int64_t chunks = (g_.rows + kChunk - 1) / kChunk;
    const int64_t pieces = item_count() * chunks;
    std::atomic<int64_t> next = 0;
    parallel_for(lanes_, 1, [&](uint64_t lane, uint64_t) {
      const Scratch scratch(host<float>(arguments.workspace + lane * lane_bytes()), g_);
      for (int64_t piece = next++; piece < pieces; piece = next++) {
        const int64_t first = piece % chunks * kChunk;
        run_chunk(arguments, scratch, piece / chunks, {first, std::min(first + kChunk, g_.rows)});
      }
    });
  }

 private:
  struct Range {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
  };
  bool is_widened() const { return g_.dtype != tensor::DType::float32; }

  int64_t item_count() const {
    int64_t count = 1;
    for (const int64_t dim : g_.items) count *= dim;
    return count;
  }
  int64_t offset(const Matrices& matrices, int64_t item) const {
    int64_t offset = 0;
    for (size_t i = g_.items.size(); i-- > 0; item /= g_.items[i]) offset += item % g_.items[i] * matrices.items[i];
    return offset;
  }
  const std::byte* place(const Matrices& matrices, const Arguments& arguments, int64_t item, int64_t row,
                         int64_t element_bytes) const {
    const std::vector<Address>& from = matrices.is_result ? arguments.outputs : arguments.inputs;
    const int64_t element = offset(matrices, item) + row * matrices.row;
    return host<const std::byte>(from[static_cast<size_t>(matrices.input)]) + element * element_bytes;
  }
  template <typename T>
  const T* at(const Matrices& matrices, const Arguments& arguments, int64_t item) const {
    return reinterpret_cast<const T*>(place(matrices, arguments, item, 0, sizeof(T)));
  }

  struct Rows {
    const float* first;
    int64_t row, column;  // strides
  };
  // Where they are, or the `width` numbers of each, which must be dense, in `tile`.
  Rows floats(const Matrices& matrices, const Arguments& arguments, int64_t item, Range rows, int64_t width,
              float* tile) const {
    const int64_t bytes = float_bytes(g_.dtype);
    const std::byte* const from = place(matrices, arguments, item, rows.begin, bytes);
    if (g_.dtype == tensor::DType::float32)
      return {reinterpret_cast<const float*>(from), matrices.row, matrices.column};
    for (int64_t r = 0; r < rows.size(); ++r)
      read_floats(g_.dtype, from + r * matrices.row * bytes, tile + r * width, static_cast<size_t>(width));
    return {tile, width, 1};
  }

  uint64_t lane_bytes() const { return (static_cast<uint64_t>(Scratch::count(g_)) * sizeof(float) + 63) / 64 * 64; }

  // How many of the first keys a row sees.
  int64_t seen_by(const Arguments& arguments, int64_t item, int64_t row) const {
    int64_t limit = g_.keys;
    if (g_.last_key.input >= 0) limit = std::min<int64_t>(limit, *at<int32_t>(g_.last_key, arguments, item) + 1);
    if (!g_.is_causal) return limit;
    const int64_t past = g_.ends_with_last ? limit - g_.rows : g_.past;
    return std::clamp<int64_t>(past + row + 1, 0, limit);
  }

  void run_chunk(const Arguments& arguments, const Scratch& scratch, int64_t item, Range rows) const {
    std::fill_n(scratch.states, rows.size(), SoftmaxSoFar{-std::numeric_limits<float>::infinity(), 0, 1});
    const int64_t seen = seen_by(arguments, item, rows.end - 1);
    for (int64_t key = 0; key < seen; key += kKeys) {
      const Range keys{key, std::min(key + kKeys, g_.keys)};
      const float* const values = packed_values(arguments, scratch, item, keys);
      if (!are_few(rows)) pack_keys(arguments, scratch, item, keys);
      for (int64_t row = rows.begin; row < rows.end; row += kQueries) {
        const Range some{row, std::min(row + kQueries, rows.end)};
        if (seen_by(arguments, item, some.end - 1) <= keys.begin) continue;
        score(arguments, scratch, item, some, keys, are_few(rows));
        weigh(arguments, scratch, item, some, keys, row - rows.begin);
        add_values(scratch, some, keys, row - rows.begin, values);
      }
    }
    give_out(arguments, scratch, item, rows);
  }

  bool are_few(Range rows) const { return rows.size() <= kFewQueries && g_.k.column == 1; }

  // Panels of keys, with zeros beyond the last.
  void pack_keys(const Arguments& arguments, const Scratch& scratch, int64_t item, Range keys) const {
    for (int64_t first = keys.begin; first < keys.end; first += kColumns) {
      const Range some{first, std::min(first + kColumns, keys.end)};
      float* const panel = scratch.keys + (first - keys.begin) * g_.depth;
      if (some.size() < kColumns) std::fill_n(panel, g_.depth * kColumns, 0.0F);
      if (is_widened() && g_.k.column != 1)
        widen_columns(place(g_.k, arguments, item, first, float_bytes(g_.dtype)), some.size(), panel);
      else
        turn(floats(g_.k, arguments, item, some, g_.depth, scratch.rows), some.size(), panel);
    }
  }

  // Of keys that are neighbours.
  void widen_columns(const std::byte* from, int64_t count, float* panel) const {
    const int64_t step = g_.k.column * float_bytes(g_.dtype);
    for (int64_t k = 0; k < g_.depth; ++k)
      read_floats(g_.dtype, from + k * step, panel + k * kColumns, static_cast<size_t>(count));
  }

  void turn(const Rows& keys, int64_t count, float* panel) const {
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
  const float* packed_values(const Arguments& arguments, const Scratch& scratch, int64_t item, Range keys) const {
    if (lie_as_panels()) return floats(g_.v, arguments, item, keys, g_.width, nullptr).first;
    std::fill_n(scratch.values, keys.size() * width_, 0.0F);
    for (int64_t key = 0; key < keys.size(); ++key) {
      const Range one{keys.begin + key, keys.begin + key + 1};
      float* const row = scratch.values + key * width_;
      const Rows from = floats(g_.v, arguments, item, one, g_.width, row);
      if (from.first == row) continue;
      for (int64_t c = 0; c < g_.width; ++c) row[c] = from.first[c * from.column];
    }
    return scratch.values;
  }
  bool lie_as_panels() const { return g_.v.column == 1 && width_ == g_.width && !is_widened(); }

  void score(const Arguments& arguments, const Scratch& scratch, int64_t item, Range rows, Range keys,
             bool are_few) const {
    const Rows q = floats(g_.q, arguments, item, rows, g_.depth, scratch.rows);
    const auto depth = static_cast<size_t>(g_.depth);
    if (are_few) {
      const Rows k = floats(g_.k, arguments, item, keys, g_.depth, scratch.keys);
      for (int64_t r = 0; r < rows.size(); ++r) {
        row_kernels().dot(q.first + r * q.row, k.first, k.row, depth, static_cast<size_t>(keys.size()),
                          scratch.scores + r * kKeys);
      }
      return;
    }
    for (int64_t c = 0; c < keys.size(); c += kColumns) {
      panel_kernels().multiply({.left = q.first,
                                .left_row = q.row,
                                .out = scratch.scores + c,
                                .out_row = kKeys,
                                .rows = static_cast<size_t>(rows.size()),
                                .depth = depth,
                                .adds = false},
                               scratch.keys + c * g_.depth, kColumns);
    }
  }

  // Makes scores weights, and what has been summed up fit them.
  void weigh(const Arguments& arguments, const Scratch& scratch, int64_t item, Range rows, Range keys,
             int64_t place) const {
    for (int64_t r = 0; r < rows.size(); ++r) {
      const int64_t row = rows.begin + r;
      float* const scores = scratch.scores + r * kKeys;
      const int64_t seen = std::clamp<int64_t>(seen_by(arguments, item, row) - keys.begin, 0, keys.size());
      std::fill(scores + seen, scores + keys.size(), 0.0F);
      if (seen == 0) continue;
      SoftmaxSoFar& state = scratch.states[place + r];
      row_kernels().softmax_block(scores,
                                  mask_row(arguments, scratch, item, row, {keys.begin, keys.begin + seen}, scores),
                                  static_cast<size_t>(seen), g_.scale, g_.divides, state);
      if (keys.begin == 0 || state.factor == 1) continue;
      float* const sums = scratch.sums + (place + r) * width_;
      row_kernels().scale(sums, state.factor, sums, static_cast<size_t>(width_));
    }
  }

  // What is added to the scores of a row; null: nothing. Scores in whose place that comes become 0.
  const float* mask_row(const Arguments& arguments, const Scratch& scratch, int64_t item, int64_t row, Range keys,
                        float* scores) const {
    const float* added = nullptr;
    if (g_.mask.input >= 0) {
      const int64_t bytes = float_bytes(g_.dtype);
      const std::byte* const from = place(g_.mask, arguments, item, row, bytes) + keys.begin * bytes;
      added = read_floats(g_.dtype, from, scratch.mask, static_cast<size_t>(keys.size()));
    }
    if (g_.conditions.input < 0) return added;
    const uint8_t* const conditions =
        at<uint8_t>(g_.conditions, arguments, item) + row * g_.conditions.row + keys.begin;
    for (int64_t i = 0; i < keys.size(); ++i) {
      const bool is_hidden = (conditions[i] != 0) == g_.hidden_where;
      scratch.mask[i] = (added == nullptr ? 0 : added[i]) + (is_hidden ? g_.hidden : 0);
      if (is_hidden && g_.replaces) scores[i] = 0;
    }
    return scratch.mask;
  }

  void add_values(const Scratch& scratch, Range rows, Range keys, int64_t place, const float* values) const {
    for (int64_t c = 0; c < width_; c += kColumns) {
      panel_kernels().multiply({.left = scratch.scores,
                                .left_row = kKeys,
                                .out = scratch.sums + place * width_ + c,
                                .out_row = width_,
                                .rows = static_cast<size_t>(rows.size()),
                                .depth = static_cast<size_t>(keys.size()),
                                .adds = keys.begin != 0},
                               values + c, lie_as_panels() ? g_.v.row : width_);
    }
  }

  void give_out(const Arguments& arguments, const Scratch& scratch, int64_t item, Range rows) const {
    const int64_t bytes = float_bytes(g_.dtype);
    const int64_t first = offset(g_.out, item) + rows.begin * g_.out.row;
    for (int64_t r = 0; r < rows.size(); ++r) {
      auto* const out = host<std::byte>(arguments.outputs[0]) + (first + r * g_.out.row) * bytes;
      const SoftmaxSoFar& state = scratch.states[r];
      const bool sees_none = g_.zeroes_what_sees_none && state.greatest == kHidden;
      if (sees_none || (g_.zeroes_no_number && !(state.sum > 0))) {
        std::memset(out, 0, static_cast<size_t>(g_.width * bytes));
        continue;
      }
      float* const sums = scratch.sums + r * width_;
      const auto width = static_cast<size_t>(g_.width);
      row_kernels().scale(sums, 1 / state.sum, place_floats(g_.dtype, out, sums), width);
      write_floats(g_.dtype, sums, out, width);
    }
  }

  AttentionGeometry g_;
  int64_t width_;
  uint64_t lanes_;
};

}  // namespace

Matrices matrices_of(int input, const TensorDesc& desc, const tensor::Shape& items) {
  Matrices matrices{.input = input, .items = {}};
  const size_t rank = desc.dims.size();
  const auto stride = [&](size_t i) { return desc.dims[i] == 1 ? 0 : desc.strides[i]; };
  for (size_t i = 0; i < items.size(); ++i) {
    const size_t missing = items.size() + 2 - rank;
    matrices.items.push_back(i < missing ? 0 : stride(i - missing));
  }
  matrices.row = rank < 2 ? 0 : stride(rank - 2);
  matrices.column = desc.strides[rank - 1];
  return matrices;
}

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
  g.k.items.pop_back();
  g.v.items.pop_back();
}

std::unique_ptr<PlainKernel> make_attention(AttentionGeometry geometry) {
  return std::make_unique<AttentionKernel>(std::move(geometry));
}

}  // namespace assay::engine::cpu
