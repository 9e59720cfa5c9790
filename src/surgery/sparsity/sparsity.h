#pragma once

#include "ir/model.h"
#include "results/sparsity.h"
#include "surgery/sparsity/weights.h"

namespace assay::surgery {

// The weights of Conv, ConvTranspose, MatMul and Gemm with the axis that is summed over, if its length is a multiple
// of 4. Weights are followed backwards through QuantizeLinear, DequantizeLinear, Cast, Identity and Transpose. Eligible
// are float32, float16, bfloat16 and operands of DequantizeLinear; `skipped` gets the reasons for the others.
std::vector<SparsityCandidate> eligible_weights(const ir::Model& model, std::vector<results::SkippedWeight>& skipped);

// Checks a candidate for 2:4 sparsity. Error if it cannot be read.
results::WeightSparsity check_sparsity(const ir::Model& model, const SparsityCandidate& candidate);

// Checks all of them.
results::SparsityReport inspect_sparsity(const ir::Model& model);

}  // namespace assay::surgery
