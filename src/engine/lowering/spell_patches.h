#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: Conv over a picture with large windows side by side, as patches of a picture become tokens
// After:  a Gemm of the patches, and its rows as a picture
// Only if: shapes are known, weights are constant, windows have more than 64 pixels (a kernel of its own has room for
// as
//          many), neither pads nor dilations, and the strides that are their size
// Class: rounding; sums are taken in another order
void spell_patches(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
