#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/layers/element_op.h"
#include "tensor/dtype.h"

namespace assay::engine::cpu {

// A loop over `count` elements side by side of each operand; the result overlaps none of them.
using ElementLoop = void (*)(const std::byte* const* operands, std::byte* out, size_t count);

// Loops for one instruction set; null: there is none for this operation or these types. Sums wrap, and a division by 0
// gives 0, as docs/numerics.md says.
struct IntegerKernels {
  const char* name;
  ElementLoop (*find)(ElementOp op, tensor::DType type);
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
