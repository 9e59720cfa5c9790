#pragma once

#include "engine/device/lowering_rules.h"
#include "ir/rewriter.h"

namespace assay::engine {

// Before: DequantizeLinear, what only moves elements, then QuantizeLinear and DequantizeLinear as the first
// After:  without the last two
// Only if: no product of integers, or attention of codes, wants them
// Class: exact
//
// Before: MaxPool, or what only moves elements to a quantiser, of what DequantizeLinear makes of codes, with one scale
// After:  the same of the codes, then DequantizeLinear
// Only if: nothing else uses the dequantised values, and MaxPool takes codes in this version
// Class: exact
//
// Before: DequantizeLinear, then QuantizeLinear with the same scale, zero point and type
// After:  the codes
// Class: exact
void pass_codes_through(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules);

}  // namespace assay::engine
