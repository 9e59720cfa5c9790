#pragma once

#include "engine/device/lowering_rules.h"
#include "ir/rewriter.h"

namespace assay::engine {

// Before: ConvTranspose of float32 over up to three dims, of known shapes and with constant weights and bias
// After:  Conv at stride 1 to as many channels more as a stride has places, which are then moved between the pixels,
//         and a Slice, where padding takes something away
// Only if: it is over three dims that the device does not know, or has few filters by its rules; there is one group
// without
//          dilations, and padding is given in numbers.
// Class: rounding; sums are taken in another order
void spell_transposed_conv(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules);

}  // namespace assay::engine
