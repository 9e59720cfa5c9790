#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: ReduceMin, ReduceL1, ReduceLogSum or ReduceLogSumExp of the main graph; ReduceSum, ReduceMean or ReduceMax
//         over dims that are no neighbours
// After:  ReduceMax of what is negated; ReduceSum of magnitudes, perhaps their logarithm; or of exponentials of what is
//         less by the greatest element, as softmax has them; one after the other for each run of neighbours
// Only if: float32 of known shape without empty dims, known axes
// Class: rounding
void spell_reductions(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
