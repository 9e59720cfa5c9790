#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: a function, with nothing but single numbers, of the elements of a product or a convolution that have been
//         moved: GELU of a Transpose of a Conv
// After:  the function where they are computed, as one layer with the product, then the move
// Before: such a function of a Concat of results of products or convolutions
// After:  a Concat of the function of each
// Only if: nothing else uses what lies between.
// Class: exact
void chains_first(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
