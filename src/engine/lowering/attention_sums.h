#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: scores of an attention that a constant scales head by head, and constants that are added to them before and
//         after windows of a picture are a dim of their own: Softmax(Reshape(Reshape(q * k * s + a) + b))
// After:  one constant, and scaled queries: Softmax((q * s) * k + c)
// Only if: nothing else uses what lies between.
// Class: rounding
void join_attention_sums(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
