#pragma once

#include "engine/device/lowering_rules.h"
#include "ir/rewriter.h"

namespace assay::engine {

// Before: Conv, MatMul, perhaps with what expands its constant weights, or an elementwise operator, and elementwise
//         operators that only use its result and others of theirs, up to one value that is used outside; or attention,
//         or a normalisation, written out
// After:  the call of a function with these operators
// Only if: all of them compute float32 values of the same, known shape
// Class: exact
void form_layers(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules);

}  // namespace assay::engine
