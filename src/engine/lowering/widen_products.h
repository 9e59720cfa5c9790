#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: MatMul, Gemm or Conv of float16
// After:  the same of float32, between Casts
// Class: rounding; sums are float32 before they are rounded
void widen_products(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
