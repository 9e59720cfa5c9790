#pragma once

#include "ir/rewriter.h"
#include "ops/inference.h"

namespace assay::engine {

// Before: DistCollective of what a permitted precision has cast from a 16-bit float
// After:  the Cast of a DistCollective of the 16-bit floats, of which ranks exchange half as many bytes
// Only if: nothing else uses the Cast, which no node of the model asks for.
// Class: rounding
void exchange_halves(ir::Model& model, ir::Rewriter& rewriter);

// True for a sum over all ranks of floats that take no more bytes; it may go on element by element.
bool is_short_sum(const ir::Model& model, const ops::Inference& inference, ir::NodeId node, int64_t most_bytes);

}  // namespace assay::engine
