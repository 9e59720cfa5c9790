#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::engine::cpu {

// A matrix on the right of products lies as panels: this many columns, row by row.
inline constexpr size_t kPanel = 32;
inline constexpr size_t kNarrowPanel = 16;

// Rows of a product with one panel, which is added to `out` or takes its place. Words of rows and panels are float32,
// or pairs of bfloat16.
struct PanelRows {
  const float* left = nullptr;  // rows of `depth` words
  int64_t left_row = 0;         // from one to the next, as below
  float* out = nullptr;         // rows of kPanel numbers
  int64_t out_row = 0;
  size_t rows = 1;
  size_t depth = 0;
  bool adds = true;
};

// The form for which loops over panels of small integers are made.
struct PanelForm {
  bool are_nibbles = false;
  bool has_zeros = false;          // each block has zero points of its own
  bool are_scales_halves = false;  // of float16, none of them denormal

  constexpr size_t scale_bytes() const { return kPanel * (are_scales_halves ? sizeof(uint16_t) : sizeof(float)); }
  constexpr size_t number_bytes() const { return scale_bytes() + (has_zeros ? kPanel * sizeof(float) : 0); }
};

// A panel of small integers, block by block of rows: the scales of its columns, their zero points where it has such,
// and the codes, for every column those of four or eight rows in a word.
struct CodePanel {
  const std::byte* blocks = nullptr;
  size_t block = 1;  // rows
  PanelForm form;
  bool are_zeros_whole = true;
  float zero = 0;  // of nibbles without such

  static constexpr size_t kNibbles = 8, kBytes = 4;  // in a word
  static constexpr size_t kWordRow = kPanel * sizeof(uint32_t);
  size_t rows_of_word() const { return form.are_nibbles ? kNibbles : kBytes; }
  size_t code_bytes(size_t rows) const { return (rows + rows_of_word() - 1) / rows_of_word() * kWordRow; }
};

using PanelProduct = void (*)(const PanelRows& rows, const float* panel, int64_t panel_row);

// Loops over panels, for one instruction set.
struct PanelKernels {
  const char* name;
  PanelProduct multiply;
  PanelProduct multiply_narrow;  // with the first kNarrowPanel columns
  // With numbers of 16 bits, kPanel to a row: of bfloat16, or of float16, none of them denormal or infinite. The sums
  // are those of the same numbers in float32.
  void (*multiply_halves)(const PanelRows& rows, const uint16_t* panel, bool are_bfloat16);
  // Scales are applied to the sums of blocks, which are added.
  void (*multiply_codes)(const PanelRows& rows, const CodePanel& panel);
  // Rows [begin, end) as numbers, each rounded as DequantizeLinear does.
  void (*expand)(const CodePanel& panel, size_t begin, size_t end, float* out);
};

// The number of panels in a piece of work for one thread: many, since each piece begins with memory that nobody
// fetched, but so few that every thread has several pieces.
uint64_t panels_of_piece(uint64_t panels, uint64_t panel_bytes);

// The best that this processor has.
const PanelKernels& panel_kernels();
// With pairs of bfloat16, whose denormals count as zero; null: this processor has no instructions for them.
PanelProduct pair_panel_product();
// All that this processor has, for tests.
std::span<const PanelKernels* const> all_panel_kernels();

}  // namespace assay::engine::cpu
