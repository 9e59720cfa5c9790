#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: MatMuls of one value by constants, each perhaps with a bias row, as queries, keys and values are made
// After:  Split of the MatMul by all their columns side by side
// Only if: nothing but a Reshape into heads uses each result, so that parts of rows serve as well.
// Class: exact
void join_products(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
