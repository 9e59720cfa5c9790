#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: QLinearConv or QLinearMatMul with constant scales and zero points
// After:  DequantizeLinear of the operands, Conv or MatMul, and QuantizeLinear
// Class: rounding
//
// Before: MatMulInteger, ConvInteger, or a Conv, MatMul or Gemm of what DequantizeLinear makes of codes, whose constant
//         weights are uint8 or have zero points
// After:  int8 weights, with zero points for the channels or columns of which int8 does not hold the differences
// Class: exact
void spell_integers(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
