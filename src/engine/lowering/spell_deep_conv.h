#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: Conv of float32 over three dims, of known shapes and with constant weights
// After:  Conv over the last two, of slices whose channels are those of all that the kernel sees in the first; or over
//         the first, where the kernel has one element in the others
// Only if: padding is given in numbers, and in the first case there is one group.
// Class: rounding; sums are taken in another order
void spell_deep_conv(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
