#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/devices/cpu/panels/panel_kernels.h"

namespace assay::engine::cpu {

// Up to 32 numbers of a row as multiples of a power of two, in four digits of 8 bits with signs, which processors
// multiply by codes and sum up four at a time. What is lost of each is at most 2^-30 of the greatest.
struct DigitRun {
  static constexpr size_t kRows = 32;
  static constexpr size_t kDigits = 4;
  int32_t words[kRows / 4][kDigits];  // the digits of four numbers, lowest first
  float unit;                         // of the lowest digits
  int32_t low, high;                  // sums of what the lower and the upper two digits say
  uint32_t count;
};

// Whether this processor has the instructions for what follows.
bool has_digits();

// How many runs a row takes: each begins with a block.
size_t digit_runs(size_t depth, size_t block);

// A row for products with that panel; false: it holds what is no number, or numbers that lie too far apart.
bool split_row(const float* row, size_t depth, const CodePanel& panel, DigitRun* runs);

// Adds the products of rows to `out`; runs lie row by row.
void multiply_digits(const DigitRun* runs, const PanelRows& rows, const CodePanel& panel);

}  // namespace assay::engine::cpu
