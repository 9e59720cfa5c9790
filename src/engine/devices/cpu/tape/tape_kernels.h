#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/layers/element_op.h"

namespace assay::engine::cpu {

// Elements that are worked on at a time.
inline constexpr size_t kTapeTile = 512;

// Rows of elements: where the first begins, and how far it is from one to the next.
struct TapeView {
  const float* first = nullptr;
  int64_t row = 0;
};
template <typename Number>
struct TapeRowsOf {
  Number* first = nullptr;
  int64_t row = 0;
  size_t rows = 1;
  size_t columns = 0;  // of all views as well
};
using TapeTarget = TapeRowsOf<float>;

// Truth is 1 or 0. Loops for one instruction set. The target may be an operand. Whole vectors are read and written, so
// that the memory of a row must reach to a multiple of 16 elements. round_to_float16 and coarse steps have loops of
// their own.
struct TapeKernels {
  const char* name;
  void (*binary)(ElementOp op, TapeView a, TapeView b, TapeTarget out);
  void (*select)(TapeView a, TapeView b, TapeView c, TapeTarget out);
  // `p` and `q`: the operator's numbers, such as the slope or the bounds.
  void (*unary)(ElementOp op, TapeView a, TapeTarget out, float p, float q);
  // Gives each row one number, the first of a row of `a`.
  void (*spread)(TapeView a, TapeTarget out);
};

// The best that this processor has.
const TapeKernels& tape_kernels();
// All that this processor has, for tests.
std::span<const TapeKernels* const> all_tape_kernels();

}  // namespace assay::engine::cpu
