// Products of float32, or of numbers that become such.
#include <algorithm>

#include "engine/devices/cpu/attention/attention_products.h"
#include "engine/devices/cpu/attention/turned_square.h"
#include "engine/devices/cpu/parts.h"

namespace assay::engine::cpu {
namespace {

using Range = AttentionRange;
constexpr int64_t kColumns = AttentionScratch::kColumns;
constexpr int64_t kSquare = 4;

class FloatAttention final : public AttentionProducts {
 public:
  using AttentionProducts::AttentionProducts;

  void read_values(const AttentionChunk& chunk, Range keys) const override {
    chunk.scratch.value_parts = value_parts(chunk, keys);
  }

  // Panels of keys, with zeros beyond the last.
  void read_keys(const AttentionChunk& chunk, Range keys) const override {
    for (int64_t first = keys.begin; first < keys.end; first += kColumns) {
      const Range some{first, std::min(first + kColumns, keys.end)};
      float* const panel = chunk.scratch.keys + (first - keys.begin) * g().depth;
      if (some.size() < kColumns) std::fill_n(panel, g().depth * kColumns, 0.0F);
      if (operands_.is_widened() && g().k.column != 1) {
        widen_columns(operands_.place(g().k, chunk, first, float_bytes(g().dtype)), some.size(), panel);
        continue;
      }
      for (const FloatRows& part : operands_.read_keys(chunk, some, chunk.scratch.rows))
        turn(part, part.size(), panel + (part.begin - first));
    }
  }

  void score(const AttentionChunk& chunk, Range rows, int64_t count) const override {
    const FloatRows q = operands_.queries(chunk, rows);
    for (int64_t c = 0; c < count; c += kColumns) {
      multiply({.left = q.first,
                .left_row = q.row,
                .out = chunk.scratch.scores + c,
                .out_row = AttentionScratch::kKeys,
                .rows = static_cast<size_t>(rows.size()),
                .depth = static_cast<size_t>(g().depth),
                .adds = false},
               chunk.scratch.keys + c * g().depth, kColumns, count - c);
    }
  }

  void weigh(const Row& row) const override {
    std::fill(row.scores + row.seen, row.scores + row.count, 0.0F);
    if (row.seen == 0) return;
    row_kernels().softmax_block(row.scores, row.mask, static_cast<size_t>(row.seen), g().scale, g().divides, row.state);
  }

  void add_values(const AttentionChunk& chunk, Range rows, Range keys) const override {
    for (const FloatRows& part : chunk.scratch.value_parts) add_part(chunk, rows, keys, part);
  }

  void give_out(float* sums, float factor, std::byte* out) const override {
    const auto width = static_cast<size_t>(g().width);
    row_kernels().scale(sums, factor, place_floats(g().dtype, out, sums), width);
    write_floats(g().dtype, sums, out, width);
  }

 private:
  const AttentionGeometry& g() const { return operands_.g; }

  // With so many columns of a panel, or a whole one.
  static void multiply(const PanelRows& rows, const float* panel, int64_t panel_row, int64_t columns) {
    const bool is_narrow = columns <= static_cast<int64_t>(kNarrowPanel);
    (is_narrow ? panel_kernels().multiply_narrow : panel_kernels().multiply)(rows, panel, panel_row);
  }

  void add_part(const AttentionChunk& chunk, Range rows, Range keys, const FloatRows& part) const {
    const int64_t end = std::min(part.end, keys.end);
    if (part.begin >= end) return;
    for (int64_t c = 0; c < operands_.width; c += kColumns) {
      multiply({.left = chunk.scratch.scores + (part.begin - keys.begin),
                .left_row = AttentionScratch::kKeys,
                .out = chunk.scratch.sums + (rows.begin - chunk.rows.begin) * operands_.width + c,
                .out_row = operands_.width,
                .rows = static_cast<size_t>(rows.size()),
                .depth = static_cast<size_t>(end - part.begin),
                .adds = part.begin != 0},
               part.first + c, part.row, operands_.width - c);
    }
  }

  // Widens columns of keys that are neighbours.
  void widen_columns(const std::byte* from, int64_t count, float* panel) const {
    const int64_t step = g().k.column * float_bytes(g().dtype);
    for (int64_t k = 0; k < g().depth; ++k) {
      load_floats(g().dtype, from + k * step, panel + k * kColumns, static_cast<size_t>(count));
    }
  }

  void turn(const FloatRows& keys, int64_t count, float* panel) const {
    const bool has_squares = keys.column == 1;
    const int64_t whole_depth = has_squares ? g().depth / kSquare * kSquare : 0;
    const int64_t whole_count = has_squares ? count / kSquare * kSquare : 0;
    for (int64_t c = 0; c < whole_count; c += kSquare) {
      for (int64_t k = 0; k < whole_depth; k += kSquare) {
        turn_square(keys.first + c * keys.row + k, keys.row * static_cast<int64_t>(sizeof(float)),
                    panel + k * kColumns + c, kColumns);
      }
    }
    for (int64_t k = 0; k < g().depth; ++k) {
      for (int64_t c = k < whole_depth ? whole_count : 0; c < count; ++c) {
        panel[k * kColumns + c] = keys.first[c * keys.row + k * keys.column];
      }
    }
  }

  // Rows of whole panels: where they are, or copied.
  std::array<FloatRows, 2> value_parts(const AttentionChunk& chunk, Range keys) const {
    float* const tile = chunk.scratch.values;
    const int64_t width = operands_.width;
    const bool lie_as_panels = width == g().width && operands_.values.lie_in_rows();
    if (!lie_as_panels) std::fill_n(tile, keys.size() * width, 0.0F);
    const std::array<FloatRows, 2> parts = operands_.read_values(chunk, keys, tile, width);
    if (lie_as_panels) return parts;
    for (const FloatRows& part : parts) {
      float* const rows = tile + (part.begin - keys.begin) * width;
      if (part.first == rows) continue;
      for (int64_t r = 0; r < part.size(); ++r) {
        for (int64_t c = 0; c < g().width; ++c) rows[r * width + c] = part.first[r * part.row + c * part.column];
      }
    }
    return {FloatRows{tile, width, 1, keys.begin, keys.end}, {}};
  }

  Greatest greatest_of(const AttentionChunk& chunk, Range keys) const override {
    Greatest greatest = {};
    for (int64_t row = chunk.rows.begin; row < chunk.rows.end; row += AttentionScratch::kQueries) {
      const Range some{row, std::min(row + AttentionScratch::kQueries, chunk.rows.end)};
      find_greatest(operands_.queries(chunk, some), g().depth, greatest.query);
    }
    const int64_t packed = rounded_up(keys.size(), kColumns) * g().depth;
    row_kernels().greatest_size(chunk.scratch.keys, 0, 1, static_cast<size_t>(packed), greatest.key);
    for (const FloatRows& part : chunk.scratch.value_parts) find_greatest(part, g().width, greatest.value);
    return greatest;
  }
  static void find_greatest(const FloatRows& rows, int64_t width, float& greatest) {
    row_kernels().greatest_size(rows.first, rows.row, static_cast<size_t>(rows.size()), static_cast<size_t>(width),
                                greatest);
  }
};

}  // namespace

std::unique_ptr<AttentionProducts> make_float_attention(const AttentionOperands& operands) {
  return std::make_unique<FloatAttention>(operands);
}

}  // namespace assay::engine::cpu
