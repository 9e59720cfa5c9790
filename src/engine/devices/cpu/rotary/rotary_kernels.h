#pragma once

#include <array>
#include <span>

#include "engine/devices/cpu/tape/tape_kernels.h"

namespace assay::engine::cpu {

// Loops for one instruction set over rows that are turned. Rows of results lie apart from those of operands.
struct RotaryKernels {
  const char* name;
  size_t width;  // of a vector; shorter rows are computed one by one
  // (a * b + c * d) * scale of four operands, or that of the difference; each product is rounded.
  void (*sum)(const std::array<TapeView, 4>& operands, float scale, const TapeTarget& out);
  void (*difference)(const std::array<TapeView, 4>& operands, float scale, const TapeTarget& out);
  // Neighbours of x, y by a cosine c and a sine s: x * c - y * s, y * c + x * s. Operands are these pairs, c and s.
  void (*pairs)(const std::array<TapeView, 4>& operands, const TapeTarget& out);
  // Likewise with a cosine and a sine for each of the neighbours, and times `scale`.
  void (*neighbours)(const std::array<TapeView, 4>& operands, float scale, const TapeTarget& out);
};

// The best that this processor has for rows of that many elements, or pairs.
const RotaryKernels& rotary_kernels(size_t columns);
// All that this processor has, for tests.
std::span<const RotaryKernels* const> all_rotary_kernels();

}  // namespace assay::engine::cpu
