#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::engine::cpu {

// Operations of a tape on each element.
enum class TapeOp : uint8_t {
  add,
  subtract,
  multiply,
  divide,
  maximum,
  minimum,
  power,
  prelu,
  less,
  greater,
  less_or_equal,
  greater_or_equal,
  equal,
  logical_and,
  logical_or,
  logical_xor,  // the last of two operands
  select,       // of three: c where a is 0, otherwise b
  copy,
  round_to_bfloat16,
  round_to_float16,  // the tape's own
  dequantize,        // (x - q) * p
  quantize_signed,   // x / p + q as a whole number of the range
  quantize_unsigned,
  cube,
  relu,
  leaky_relu,
  sigmoid,
  silu,
  tanh,
  elu,
  selu,
  hard_swish,
  shifted_swish,  // x times x + p, of 0 to q, in shares of q
  scaled_sum,     // x * p + q
  hard_sigmoid,
  softplus,
  softsign,
  gelu,
  gelu_tanh,
  mish,
  coarse_sigmoid,  // the first of those whose results are rounded to bfloat16
  coarse_silu,
  coarse_tanh,
  coarse_gelu,
  coarse_gelu_tanh,  // the last of them
  erf,
  exp,
  log,
  sqrt,
  reciprocal,
  negate,
  abs,
  clip,
  floor,
  ceil,
  round,  // ties to even
  sign,
  sine,
  cosine,
  celu,
  thresholded_relu,
  logical_not,
  is_true,  // 1 unless it is 0
  is_nan,
  is_infinite,  // p and q: whether the positive and the negative one count
};
inline constexpr TapeOp kLastBinary = TapeOp::logical_xor;

constexpr bool is_coarse(TapeOp op) { return op >= TapeOp::coarse_sigmoid && op <= TapeOp::coarse_gelu_tanh; }

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
// that the memory of a row must reach to a multiple of 16 elements. Coarse operators have loops of their own.
struct TapeKernels {
  const char* name;
  void (*binary)(TapeOp op, TapeView a, TapeView b, TapeTarget out);
  void (*select)(TapeView a, TapeView b, TapeView c, TapeTarget out);
  // `p` and `q`: the operator's numbers, such as the slope or the bounds.
  void (*unary)(TapeOp op, TapeView a, TapeTarget out, float p, float q);
};

// The best that this processor has.
const TapeKernels& tape_kernels();
// All that this processor has, for tests.
std::span<const TapeKernels* const> all_tape_kernels();

}  // namespace assay::engine::cpu
