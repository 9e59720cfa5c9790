#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: com.microsoft's QLinearAdd, QLinearMul, QLinearConcat, QLinearSigmoid, QLinearLeakyRelu,
//         QLinearGlobalAveragePool, QLinearAveragePool, QLinearSoftmax or QGemm with constant scales and zero points
// After:  DequantizeLinear of the operands, the operator of that name, and QuantizeLinear
// Class: rounding
void spell_qlinear(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
