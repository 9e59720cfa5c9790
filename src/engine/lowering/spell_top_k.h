#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: TopK of float32 or int64 along another dim than the last
// After:  TopK along the last dim of a Transpose, whose results are transposed back
// Class: exact
void spell_top_k(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
