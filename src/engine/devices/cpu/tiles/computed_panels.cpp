#include "engine/devices/cpu/tiles/computed_panels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/tiles/code_rows.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kWordBytes = 4;       // of a word of a row
constexpr int64_t kQuad = 4;            // codes of a word, or words of a square
constexpr int64_t kCodesTogether = 16;  // of columns that lie side by side
constexpr uint8_t kSign = 0x80;

using Codes [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(1)]] = uint8_t;
using Pairs [[gnu::vector_size(16), gnu::may_alias]] = uint16_t;
using Words [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(4)]] = uint32_t;

Codes codes_at(const std::byte* from, uint8_t flip) { return *reinterpret_cast<const Codes*>(from) ^ flip; }
Words words_at(const std::byte* from, uint8_t flip) { return reinterpret_cast<Words>(codes_at(from, flip)); }

// A part of a panel: the first word of the first column that is written, with `row` words from one row to the next.
struct PanelPart {
  std::byte* to;
  int64_t row;    // words
  int64_t codes;  // of a word
  uint8_t flip;
};

// Codes `depth` up to `end` of one column after the other.
void pack_codes(const CodeColumns& from, int64_t columns, int64_t depth, int64_t end, const PanelPart& part) {
  for (int64_t k = depth; k < end && columns > 0; ++k) {
    const std::byte* const codes = from.first + k * from.depth;
    std::byte* const to = part.to + k / part.codes * part.row * part.codes + k % part.codes;
    for (int64_t c = 0; c < columns; ++c)
      to[c * part.codes] = codes[c * from.column] ^ static_cast<std::byte>(part.flip);
  }
}

// Four words of each of four columns, whose codes lie one behind the other.
void turn_words(const std::byte* from, int64_t column, const PanelPart& part) {
  const Words a = words_at(from, part.flip), b = words_at(from + column, part.flip);
  const Words c = words_at(from + 2 * column, part.flip), d = words_at(from + 3 * column, part.flip);
  const Words ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Words cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const int64_t row = part.row * kWordBytes;
  *reinterpret_cast<Words*>(part.to) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
  *reinterpret_cast<Words*>(part.to + row) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
  *reinterpret_cast<Words*>(part.to + 2 * row) = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
  *reinterpret_cast<Words*>(part.to + 3 * row) = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
}

// A word of each of 16 columns that lie side by side.
void join_codes(const std::byte* from, int64_t depth, const PanelPart& part) {
  const Codes a = codes_at(from, part.flip), b = codes_at(from + depth, part.flip);
  const Codes c = codes_at(from + 2 * depth, part.flip), d = codes_at(from + 3 * depth, part.flip);
  const auto low = [](const Codes& x, const Codes& y) {
    return reinterpret_cast<Pairs>(
        __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  };
  const auto high = [](const Codes& x, const Codes& y) {
    return reinterpret_cast<Pairs>(
        __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
  };
  const Pairs pairs[] = {low(a, b), low(c, d), high(a, b), high(c, d)};
  for (size_t i = 0; i < 2; ++i) {
    const Pairs x = pairs[2 * i], y = pairs[2 * i + 1];
    std::byte* const to = part.to + i * 2 * sizeof(Pairs);
    const Pairs first = __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
    const Pairs second = __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
    std::memcpy(to, &first, sizeof(first));
    std::memcpy(to + sizeof(first), &second, sizeof(second));
  }
}

}  // namespace

ComputedPanels::ComputedPanels(const Quantizer& rows, const Quantizer& columns, int64_t count, int64_t depth)
    : kernels_(code_kernels(rows.codes == tensor::DType::int8)),
      count_(count),
      depth_(depth),
      words_(parts_of(depth, kernels_.codes)),
      flip_(columns.codes == tensor::DType::uint8 ? kSign : 0),
      column_zero_(columns.zero - flip_),
      zeros_(static_cast<size_t>(words_ * kWordBytes)) {
  CodeForm::of(rows.codes).fill(static_cast<std::byte>(rows.zero), words_ * kernels_.codes, zeros_.data());
  starts_at_ = static_cast<uint64_t>(rounded_up(whole_columns() * words_ * kernels_.codes, 64));
}

int64_t ComputedPanels::whole_columns() const { return rounded_up(count_, kWholeColumns); }

void ComputedPanels::pack(const CodeColumns& from, std::byte* to) const {
  for (int64_t first = 0; first < count_; first += panel_columns()) {
    CodeColumns columns = from;
    columns.first += first * from.column;
    pack_panel(columns, std::min(panel_columns(), count_ - first), to + first * words_ * kernels_.codes);
  }
  set_starts(to);
}

void ComputedPanels::pack_panel(const CodeColumns& from, int64_t count, std::byte* to) const {
  const int64_t row = rounded_up(count, static_cast<int64_t>(kernels_.width));
  const int64_t word = kernels_.codes;  // bytes in a panel
  const PanelPart all{to, row, word, flip_};
  if (row != count || depth_ % word != 0) std::memset(to, 0, static_cast<size_t>(words_ * row * word));
  const bool are_quads = word == kQuad;
  const bool are_turned = are_quads && from.depth == 1;
  const bool are_joined = are_quads && from.column == 1 && !are_turned;
  const int64_t step = are_turned ? kQuad : kCodesTogether;           // columns
  const int64_t deep = are_turned ? kQuad * kWordBytes : kWordBytes;  // codes of a column
  const int64_t whole = are_turned || are_joined ? count / step * step : 0;
  const int64_t whole_depth = depth_ / deep * deep;
  for (int64_t c = 0; c < whole; c += step) {
    for (int64_t k = 0; k < whole_depth; k += deep) {
      const std::byte* const codes = from.first + c * from.column + k * from.depth;
      const PanelPart part{to + (k / word * row + c) * word, row, word, flip_};
      are_turned ? turn_words(codes, from.column, part) : join_codes(codes, from.depth, part);
    }
  }
  pack_codes(from, whole, whole_depth, depth_, all);
  const CodeColumns rest{from.first + whole * from.column, from.column, from.depth};
  pack_codes(rest, count - whole, 0, depth_, {to + whole * word, row, word, flip_});
}

// What sums begin with, so that they are of the codes of rows less their zero point.
void ComputedPanels::set_starts(std::byte* packed) const {
  auto* const starts = reinterpret_cast<int32_t*>(packed + starts_at_);
  const auto* const place = reinterpret_cast<const float*>(zeros_.data());
  std::fill_n(starts, whole_columns(), 0);
  multiply(&place, 1, packed, starts, 0);
  for (int64_t c = 0; c < count_; ++c) starts[c] = -starts[c];
}

void ComputedPanels::multiply(const float* const* places, int64_t rows, const std::byte* packed, int32_t* sums,
                              int64_t sums_row) const {
  const auto* const starts = reinterpret_cast<const float*>(packed + starts_at_);
  for (int64_t first = 0; first < count_; first += panel_columns()) {
    const int64_t columns = std::min(panel_columns(), count_ - first);
    const auto* const panel = reinterpret_cast<const float*>(packed + first * words_ * kernels_.codes);
    kernels_.multiply({.places = places,
                       .rows = static_cast<size_t>(rows),
                       .depth = static_cast<size_t>(words_),
                       .panel = panel,
                       .sums = reinterpret_cast<float*>(sums + first),
                       .sums_row = sums_row,
                       .starts = starts + first,
                       .ahead = panel},
                      static_cast<size_t>(parts_of(columns, static_cast<int64_t>(kernels_.width))));
  }
}

}  // namespace assay::engine::cpu
