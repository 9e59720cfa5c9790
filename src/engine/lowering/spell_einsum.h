#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: Einsum of known shapes, in whose terms no label is repeated
// After:  Transpose, Reshape, ReduceSum, and MatMul or Mul of two operands at a time
// Class: rounding; sums are taken in another order
void spell_einsum(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
