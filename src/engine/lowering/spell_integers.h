#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: QLinearConv or QLinearMatMul with constant scales and zero points
// After:  DequantizeLinear of the operands, Conv or MatMul, and QuantizeLinear
// Class: rounding
//
// Before: MatMulInteger or ConvInteger whose constant weights have zero points
// After:  int8 weights without them
// Only if: they fit.
// Class: exact
void spell_integers(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
