#include "engine/devices/cpu/tiles/computed_panels.h"

#include <algorithm>
#include <cstring>

#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/tiles/code_rows.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kWordBytes = 4;       // of a word of a row
constexpr int64_t kQuad = 4;            // codes of a word that is not a pair
constexpr int64_t kSquare = 4;          // columns, and quads of each
constexpr int64_t kCodesTogether = 16;  // of columns that lie side by side
constexpr uint8_t kSign = 0x80;

using Codes [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(1)]] = uint8_t;
using Pairs [[gnu::vector_size(16), gnu::may_alias]] = uint16_t;
using Quads [[gnu::vector_size(16), gnu::may_alias]] = uint32_t;

// A part of a panel: the first word of the first column that is written.
struct PanelPart {
  std::byte* to;
  int64_t row;    // bytes from one to the next
  int64_t codes;  // of a word
  uint8_t flip;
};

Codes codes_at(const std::byte* from, uint8_t flip) { return *reinterpret_cast<const Codes*>(from) ^ flip; }

// Codes `depth` up to `end` of columns, one after the other.
void pack_codes(const CodeColumns& from, int64_t depth, int64_t end, const PanelPart& part) {
  if (from.count == 0) return;
  for (int64_t k = depth; k < end; ++k) {
    const std::byte* const codes = from.first + k * from.depth;
    std::byte* const to = part.to + k / part.codes * part.row + k % part.codes;
    for (int64_t c = 0; c < from.count; ++c)
      to[c * part.codes] = codes[c * from.column] ^ static_cast<std::byte>(part.flip);
  }
}

// The i-th quads of four columns: a row, or two of pairs.
void write_quads(const Quads& quads, int64_t i, const PanelPart& part) {
  if (part.codes == kQuad) {
    std::memcpy(part.to + i * part.row, &quads, sizeof(quads));
    return;
  }
  const auto given = reinterpret_cast<Pairs>(quads);
  const Pairs pairs = __builtin_shufflevector(given, given, 0, 2, 4, 6, 1, 3, 5, 7);
  const auto* const bytes = reinterpret_cast<const std::byte*>(&pairs);
  constexpr size_t kHalf = sizeof(pairs) / 2;
  std::memcpy(part.to + 2 * i * part.row, bytes, kHalf);
  std::memcpy(part.to + (2 * i + 1) * part.row, bytes + kHalf, kHalf);
}

// Four quads of each of four columns, whose codes lie one behind the other.
void turn_square(const std::byte* from, int64_t column, const PanelPart& part) {
  const auto at = [&](int64_t i) { return reinterpret_cast<Quads>(codes_at(from + i * column, part.flip)); };
  const Quads a = at(0), b = at(1), c = at(2), d = at(3);
  const Quads left_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Quads left_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Quads right_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Quads right_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  write_quads(__builtin_shufflevector(left_low, right_low, 0, 1, 4, 5), 0, part);
  write_quads(__builtin_shufflevector(left_low, right_low, 2, 3, 6, 7), 1, part);
  write_quads(__builtin_shufflevector(left_high, right_high, 0, 1, 4, 5), 2, part);
  write_quads(__builtin_shufflevector(left_high, right_high, 2, 3, 6, 7), 3, part);
}

// Two rows of 16 codes in turn.
void pair_up(const std::byte* from, int64_t depth, uint8_t flip, Pairs (&out)[2]) {
  const Codes x = codes_at(from, flip);
  const Codes y = codes_at(from + depth, flip);
  out[0] =
      reinterpret_cast<Pairs>(__builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  out[1] = reinterpret_cast<Pairs>(
      __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
}

// A word of each of 16 columns that lie side by side.
void join_codes(const std::byte* from, int64_t depth, const PanelPart& part) {
  Pairs first[2], second[2];
  pair_up(from, depth, part.flip, first);
  if (part.codes != kQuad) {
    std::memcpy(part.to, first, sizeof(first));
    return;
  }
  pair_up(from + 2 * depth, depth, part.flip, second);
  for (size_t i = 0; i < 2; ++i) {
    const Pairs quads[2] = {__builtin_shufflevector(first[i], second[i], 0, 8, 1, 9, 2, 10, 3, 11),
                            __builtin_shufflevector(first[i], second[i], 4, 12, 5, 13, 6, 14, 7, 15)};
    std::memcpy(part.to + i * sizeof(quads), quads, sizeof(quads));
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
    const int64_t count = std::min(panel_columns(), count_ - first);
    pack_panel({from.first + first * from.column, from.column, from.depth, count},
               to + first * words_ * kernels_.codes);
  }
  set_starts(to);
}

void ComputedPanels::pack_panel(const CodeColumns& from, std::byte* to) const {
  const int64_t word = kernels_.codes;  // bytes in a panel
  const int64_t row = rounded_up(from.count, static_cast<int64_t>(kernels_.width)) * word;
  if (row != from.count * word || depth_ % word != 0) std::memset(to, 0, static_cast<size_t>(words_ * row));
  const bool are_turned = from.depth == 1;
  const int64_t step = are_turned ? kSquare : kCodesTogether;  // columns
  const int64_t deep = are_turned ? kSquare * kQuad : word;    // codes of a column
  const int64_t whole = are_turned || from.column == 1 ? from.count / step * step : 0;
  const int64_t whole_depth = depth_ / deep * deep;
  for (int64_t c = 0; c < whole; c += step) {
    for (int64_t k = 0; k < whole_depth; k += deep) {
      const std::byte* const codes = from.first + c * from.column + k * from.depth;
      const PanelPart part{to + k / word * row + c * word, row, word, flip_};
      are_turned ? turn_square(codes, from.column, part) : join_codes(codes, from.depth, part);
    }
  }
  pack_codes({from.first, from.column, from.depth, whole}, whole_depth, depth_, {to, row, word, flip_});
  pack_codes({from.first + whole * from.column, from.column, from.depth, from.count - whole}, 0, depth_,
             {to + whole * word, row, word, flip_});
}

// Sets the starts of sums, so that they are of the codes of rows less their zero point.
void ComputedPanels::set_starts(std::byte* packed) const {
  auto* const starts = reinterpret_cast<int32_t*>(packed + starts_at_);
  const auto* const place = reinterpret_cast<const float*>(zeros_.data());
  std::fill_n(starts, whole_columns(), 0);
  multiply({&place, 1}, packed, starts, 0);
  for (int64_t c = 0; c < count_; ++c) starts[c] = -starts[c];
}

void ComputedPanels::multiply(std::span<const float* const> rows, const std::byte* packed, int32_t* sums,
                              int64_t sums_row) const {
  const auto* const starts = reinterpret_cast<const float*>(packed + starts_at_);
  for (int64_t first = 0; first < count_; first += panel_columns()) {
    const int64_t columns = std::min(panel_columns(), count_ - first);
    const auto* const panel = reinterpret_cast<const float*>(packed + first * words_ * kernels_.codes);
    kernels_.multiply(
        {{.places = rows.data(), .rows = rows.size(), .depth = static_cast<size_t>(words_)},
         {.panel = panel, .ahead = panel},
         {.sums = reinterpret_cast<float*>(sums + first), .sums_row = sums_row, .starts = starts + first}},
        static_cast<size_t>(parts_of(columns, static_cast<int64_t>(kernels_.width))));
  }
}

}  // namespace assay::engine::cpu
