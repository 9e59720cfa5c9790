#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace assay::engine::cpu {

// Operations on each element of integers, as docs/numerics.md says: sums wrap, and a division by 0 gives 0.
enum class IntegerOp : uint8_t {
  add,
  subtract,
  multiply,
  divide,
  remainder,  // with the sign of the dividend
  modulo,     // with that of the divisor
  maximum,
  minimum,
  bits_and,
  bits_or,
  bits_xor,
  shift_left,
  shift_right,
  negate,
  absolute,
  sign,
  bits_not,
  clip,  // x, least, greatest
  less,  // from here on, the result is truth
  greater,
  less_or_equal,
  greater_or_equal,
  equal,
};
constexpr bool gives_truth(IntegerOp op) { return op >= IntegerOp::less; }

// A loop over `count` elements side by side of each operand; the result overlaps none of them.
using ElementLoop = void (*)(const std::byte* const* operands, std::byte* out, size_t count);

// Loops for one instruction set; null: there is none for these types.
struct IntegerKernels {
  const char* name;
  ElementLoop (*find)(IntegerOp op, tensor::DType type);
  // Numbers are truncated, and those that do not fit become the least number of 32 bits, or of 64 where the type has
  // so many, of which the low bits are kept.
  ElementLoop (*find_cast)(tensor::DType from, tensor::DType to);
  // The second operand where the first, truth, holds, and the third elsewhere; of elements of so many bytes.
  ElementLoop (*find_choice)(size_t bytes);
};

// The best that this processor has.
const IntegerKernels& integer_kernels();
// All that this processor has, for tests.
std::span<const IntegerKernels* const> all_integer_kernels();

}  // namespace assay::engine::cpu
