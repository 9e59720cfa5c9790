#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: an elementwise operator of a value and of a product whose rows have been given other dims: Gemm, Reshape, Add
// After:  the operator of the product and of the value's rows, as one layer with the product, then the Reshape
// Only if: shapes are known and equal, rows keep their length, and nothing else uses what lies between.
// Class: exact
void rows_first(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
