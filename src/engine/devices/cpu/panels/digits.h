#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/devices/cpu/panels/panel_kernels.h"

namespace assay::engine::cpu {

// Up to 32 numbers of a row as multiples of a power of two, in digits, which processors multiply by codes and sum up
// several at a time. What is lost of each is at most 2^-30 of the greatest.
struct DigitRun {
  static constexpr size_t kRows = 32;
  int32_t words[kRows];  // several digits each, in the order in which kernels want them
  float unit;            // of the lowest digits
  int32_t low, high;     // sums of what the lower and the upper digits say, times -zero point where that is one
  uint32_t count;
};

// The number of runs in a row: each begins with a block.
size_t digit_runs(size_t depth, size_t block);

// Rows in digits, for one instruction set.
struct DigitKernels {
  const char* name;
  // A row for products with that panel; false: it holds what is no number, or numbers that lie too far apart.
  bool (*split_row)(const float* row, size_t depth, const CodePanel& panel, DigitRun* runs);
  // Adds the products of rows to `out`; runs lie row by row.
  void (*multiply)(const DigitRun* runs, const PanelRows& rows, const CodePanel& panel);
};

// The best that this processor has; null: it multiplies floats faster.
const DigitKernels* digit_kernels();
// All that this processor has, for tests.
std::span<const DigitKernels* const> all_digit_kernels();

}  // namespace assay::engine::cpu
