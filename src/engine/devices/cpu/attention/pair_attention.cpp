// Products of pairs of bfloat16.
#include <algorithm>

#include "engine/devices/cpu/attention/attention_products.h"
#include "engine/devices/cpu/attention/turned_square.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/pair_rows.h"

namespace assay::engine::cpu {
namespace {

using Range = AttentionRange;
constexpr int64_t kColumns = AttentionScratch::kColumns;
constexpr int64_t kSquare = 4;

// Rows of numbers, with strides in numbers.
struct Halves {
  const uint16_t* first = nullptr;
  int64_t row = 0, column = 0;
};

class PairAttention final : public AttentionProducts {
 public:
  PairAttention(const AttentionOperands& operands, const PairRows& rows, PanelProduct multiply)
      : AttentionProducts(operands),
        rows_(rows),
        multiply_(multiply),
        words_(parts_of(operands.g.depth, 2)),
        scale_(operands.g.divides ? 1 / operands.g.scale : operands.g.scale) {}

  // Words of a row are of the same column of two values.
  void read_values(const AttentionChunk& chunk, Range keys) const override {
    const int64_t width = operands_.width;
    auto* words = reinterpret_cast<uint16_t*>(chunk.scratch.values);
    const auto count = static_cast<size_t>(g().width);
    for (int64_t first = keys.begin; first < keys.end; first += kColumns) {
      const Range some{first, std::min(first + kColumns, keys.end)};
      const Halves values = some_values(chunk, some);
      for (int64_t r = 0; r < some.size(); r += 2, words += 2 * width) {
        const uint16_t* const row = values.first + r * values.row;
        rows_.interleave(row, r + 1 < some.size() ? row + values.row : nullptr, words, count);
        std::fill(words + 2 * g().width, words + 2 * width, uint16_t{0});
      }
    }
  }

  // Panels of keys, with zeros beyond the last. Words are pairs of a key's numbers.
  void read_keys(const AttentionChunk& chunk, Range keys) const override {
    for (int64_t first = keys.begin; first < keys.end; first += kColumns) {
      const Range some{first, std::min(first + kColumns, keys.end)};
      float* const panel = chunk.scratch.keys + (first - keys.begin) * words_;
      if (some.size() < kColumns) std::fill_n(panel, words_ * kColumns, 0.0F);
      const Halves read = some_keys(chunk, some);
      read.column == 1 ? turn(read, some.size(), panel) : join_columns(read, some.size(), panel);
    }
  }

  void score(const AttentionChunk& chunk, Range rows, int64_t count) const override {
    const Halves q = queries(chunk, rows);
    for (int64_t c = 0; c < count; c += kColumns) {
      multiply_({.left = reinterpret_cast<const float*>(q.first),
                 .left_row = q.row / 2,
                 .out = chunk.scratch.scores + c,
                 .out_row = AttentionScratch::kKeys,
                 .rows = static_cast<size_t>(rows.size()),
                 .depth = static_cast<size_t>(words_),
                 .adds = false},
                chunk.scratch.keys + c * words_, kColumns);
    }
  }

  void weigh(const Row& row) const override {
    auto* const weights = reinterpret_cast<uint16_t*>(row.scores);
    if (row.seen > 0) rows_.softmax_block(row.scores, row.mask, static_cast<size_t>(row.seen), scale_, row.state);
    std::fill(weights + row.seen, weights + rounded_up(row.count, 2), uint16_t{0});
  }

  void add_values(const AttentionChunk& chunk, Range rows, Range keys) const override {
    const int64_t width = operands_.width;
    for (int64_t c = 0; c < width; c += kColumns) {
      multiply_({.left = chunk.scratch.scores,
                 .left_row = AttentionScratch::kKeys,
                 .out = chunk.scratch.sums + (rows.begin - chunk.rows.begin) * width + c,
                 .out_row = width,
                 .rows = static_cast<size_t>(rows.size()),
                 .depth = static_cast<size_t>(parts_of(keys.size(), 2)),
                 .adds = keys.begin != 0},
                chunk.scratch.values + c, width);
    }
  }

  void give_out(float* sums, float factor, std::byte* out) const override {
    rows_.scale(sums, factor, reinterpret_cast<uint16_t*>(out), static_cast<size_t>(g().width));
  }

 private:
  const AttentionGeometry& g() const { return operands_.g; }

  // Keys where they are, or read through floats, which keeps what a cache keeps.
  Halves some_keys(const AttentionChunk& chunk, Range keys) const {
    const bool has_cache = g().k_cache.past.exist() || g().k_cache.kept.exist();
    if (!has_cache) return {operands_.at<uint16_t>(g().k, chunk, keys.begin), g().k.row, g().k.column};
    operands_.read_keys(chunk, keys, chunk.scratch.rows);
    return narrowed(chunk, keys.size(), g().depth);
  }
  Halves some_values(const AttentionChunk& chunk, Range keys) const {
    const bool has_cache = g().v_cache.past.exist() || g().v_cache.kept.exist();
    if (!has_cache) return {operands_.at<uint16_t>(g().v, chunk, keys.begin), g().v.row, 1};
    operands_.read_values(chunk, keys, chunk.scratch.rows, g().width);
    return narrowed(chunk, keys.size(), g().width);
  }
  Halves narrowed(const AttentionChunk& chunk, int64_t rows, int64_t width) const {
    auto* const halves = reinterpret_cast<uint16_t*>(chunk.scratch.halves);
    row_kernels().narrow(chunk.scratch.rows, halves, static_cast<size_t>(rows * width));
    return {halves, width, 1};
  }

  // Whole words, where they are or copied.
  Halves queries(const AttentionChunk& chunk, Range rows) const {
    const auto* const from = operands_.at<uint16_t>(g().q, chunk, rows.begin);
    const bool has_words = reinterpret_cast<uintptr_t>(from) % sizeof(float) == 0 && g().q.row % 2 == 0;
    if (has_words && g().depth % 2 == 0) return {from, g().q.row, 1};
    auto* const copied = reinterpret_cast<uint16_t*>(chunk.scratch.halves);
    for (int64_t r = 0; r < rows.size(); ++r) {
      uint16_t* const row = copied + r * 2 * words_;
      row[2 * words_ - 1] = 0;
      std::copy_n(from + r * g().q.row, g().depth, row);
    }
    return {copied, 2 * words_, 1};
  }

  // Keys that are rows.
  void turn(const Halves& keys, int64_t count, float* panel) const {
    const int64_t whole_words = g().depth / 2 / kSquare * kSquare;
    const int64_t whole_count = count / kSquare * kSquare;
    for (int64_t c = 0; c < whole_count; c += kSquare) {
      for (int64_t w = 0; w < whole_words; w += kSquare)
        turn_square(keys.first + c * keys.row + 2 * w, keys.row * static_cast<int64_t>(sizeof(uint16_t)),
                    panel + w * kColumns + c, kColumns);
    }
    auto* const numbers = reinterpret_cast<uint16_t*>(panel);
    for (int64_t w = 0; w < words_; ++w) {
      for (int64_t c = w < whole_words ? whole_count : 0; c < count; ++c) {
        uint16_t* const word = numbers + 2 * (w * kColumns + c);
        const uint16_t* const from = keys.first + c * keys.row + 2 * w;
        word[0] = from[0];
        word[1] = 2 * w + 1 < g().depth ? from[1] : uint16_t{0};
      }
    }
  }

  // Keys that are columns side by side.
  void join_columns(const Halves& keys, int64_t count, float* panel) const {
    for (int64_t w = 0; w < words_; ++w) {
      const uint16_t* const first = keys.first + 2 * w * keys.column;
      const uint16_t* const second = 2 * w + 1 < g().depth ? first + keys.column : nullptr;
      rows_.interleave(first, second, reinterpret_cast<uint16_t*>(panel + w * kColumns), static_cast<size_t>(count));
    }
  }

  Greatest greatest_of(const AttentionChunk& chunk, Range keys) const override {
    Greatest greatest = {};
    const auto rows = static_cast<size_t>(chunk.rows.size());
    rows_.greatest_size(operands_.at<uint16_t>(g().q, chunk, chunk.rows.begin), g().q.row, rows,
                        static_cast<size_t>(g().depth), greatest.query);
    const auto find = [&](const float* words, int64_t count, float& kept) {
      rows_.greatest_size(reinterpret_cast<const uint16_t*>(words), 0, 1, static_cast<size_t>(2 * count), kept);
    };
    find(chunk.scratch.keys, rounded_up(keys.size(), kColumns) * words_, greatest.key);
    find(chunk.scratch.values, parts_of(keys.size(), 2) * operands_.width, greatest.value);
    return greatest;
  }

  const PairRows& rows_;
  PanelProduct multiply_;
  int64_t words_;  // of a query or a key
  float scale_;
};

}  // namespace

std::unique_ptr<AttentionProducts> make_pair_attention(const AttentionOperands& operands) {
  const PairRows* const rows = pair_rows();
  const PanelProduct multiply = pair_panel_product();
  if (rows == nullptr || multiply == nullptr || operands.g.dtype != tensor::DType::bfloat16) return nullptr;
  return std::make_unique<PairAttention>(operands, *rows, multiply);
}

}  // namespace assay::engine::cpu
