#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Before: moves in a row, of which a Reshape joins dims that a later one divides: heads of several sequences, as
// PyTorch's
//         nn.MultiheadAttention gives them to products of three dims
// After:  the one Reshape and Transpose that do the same, and need no copy
// Only if: shapes are known, dims are products of what they are made of, and nothing else uses what lies between.
// Class: exact
void join_moves(ir::Model& model, ir::Rewriter& rewriter);

}  // namespace assay::engine
