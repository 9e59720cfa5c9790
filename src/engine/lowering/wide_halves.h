#pragma once

#include "ir/rewriter.h"

namespace assay::engine {

// Operators of float16 compute in float32, weights are float32: float16 is what the model's inputs and outputs are, and
// what its own Casts make. Where results between operators are `rounded`, they have the precision of float16.
void widen_halves(ir::Model& model, ir::Rewriter& rewriter, bool rounded);

}  // namespace assay::engine
