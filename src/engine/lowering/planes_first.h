#pragma once

#include <cstdint>

#include "ir/rewriter.h"

namespace assay::engine {

// Before: a MatMul by a small constant matrix, whose columns moves take from planes and put back: heads that a layer of
// an
//         attention mixes
// After:  the matrix, turned, times the planes as they lie
// Only if: shapes are known, the columns are a dim of the source, planes are large, and nothing else uses what lies
//          between. An elementwise operator with constants by column may follow the product.
// Class: rounding; sums are taken in another order
// Gives the number of steps.
uint64_t planes_first(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
