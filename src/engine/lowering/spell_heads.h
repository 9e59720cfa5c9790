#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: com.microsoft's Attention or QAttention, or a MultiHeadAttention with a bias or a mask of keys
// After:  products, and a MultiHeadAttention of three operands with what is added to its scores
// Only if: it is in the main graph; shapes and the number of heads are known; masks have one number for each item, for
//          each key, or for each query and key
// Class: rounding
void spell_heads(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
