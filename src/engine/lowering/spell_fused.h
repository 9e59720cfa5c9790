#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: an operator of com.microsoft that ONNX Runtime's optimisers leave: FusedConv, NhwcConv, NhwcFusedConv,
//         NhwcMaxPool, QLinearConv, FusedGemm, FusedMatMul, TransposeMatMul, Gelu, BiasGelu, FastGelu, QuickGelu,
//         GemmFastGelu, BiasAdd, SkipLayerNormalization, SkipSimplifiedLayerNormalization, MatMulIntegerToFloat or
//         DynamicQuantizeMatMul; or a QLinearAveragePool or QLinearGlobalAveragePool whose channels are last
// After:  the operators of ai.onnx that it was made of
// Only if: it is in the main graph, and nothing uses means or deviations
// Class: rounding
void spell_fused(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
