#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::engine {

// Operations that give an element of the elements at the same place of their operands. Truth among floats is 1 or 0.
enum class ElementOp : uint8_t {
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
  round_to_float16,
  dequantize,       // (x - q) * p
  quantize_signed,  // x / p + q as a whole number of the range
  quantize_unsigned,
  quantize_e4m3,  // the nearest number of 8 bits to x / p, at most the largest one; q is 1 / p
  quantize_e5m2,
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
  erf,
  exp,
  log,
  sqrt,
  reciprocal,
  negate,
  abs,
  clip,  // to p and q
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
  modulo,       // from here on, of integers; this one with the sign of the divisor
  remainder,    // with that of the dividend
  bits_and,
  bits_or,
  bits_xor,
  bits_not,
  shift_left,
  shift_right,
};
inline constexpr ElementOp kLastBinary = ElementOp::logical_xor;
inline constexpr ElementOp kLastOfFloats = ElementOp::is_infinite;

// The operation of an operator of ai.onnx as its name says, before attributes are looked at; nullopt: it has none, or
// this version of it broadcasts along an axis.
std::optional<ElementOp> element_op(std::string_view op, int64_t version);

}  // namespace assay::engine
