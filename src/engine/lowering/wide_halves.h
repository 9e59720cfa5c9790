#pragma once

#include "ir/rewriter.h"
#include "tensor/dtype.h"

namespace assay::engine {

// Operators of `half`, float16 or bfloat16, compute in float32, weights are float32: `half` is what the model's inputs
// and outputs are, and what its own Casts make. Where results between operators are `rounded`, they have its precision.
void widen_halves(ir::Model& model, ir::Rewriter& rewriter, tensor::DType half, bool rounded);

}  // namespace assay::engine
