#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: a product by constants of rows that Transpose has put in another order, whose result is moved on
// After:  the product of the rows as they are, and its result in that order
// Before: a product by constants of what moves have made, whose rows Transpose puts in another order
// After:  the product of rows that are in that order already
// Only if: shapes are known, columns stay together, and nothing else uses what lies between. An elementwise operator
// with
//          constants by column may follow the product.
// Class: exact
void products_first(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
