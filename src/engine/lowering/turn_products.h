#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: MatMul of a and of b the other way round, where b is what Softmax gives, or wide and deep
// After:  MatMul of b and of a the other way round, whose result is turned: an attention, perhaps
// Only if: both are computed, of known shapes with the same dims before the matrices.
// Class: rounding; sums are taken in another order
void turn_products(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
