#pragma once

#include "ir/model.h"
#include "results/sparsity.h"

namespace assay::inspect {

// Checks the weights of Conv, MatMul and Gemm for 2:4 structured sparsity along the axis that is summed over. Weights
// are followed backwards through QuantizeLinear, DequantizeLinear, Cast, Identity and Transpose. Eligible are float32,
// float16, bfloat16 and what DequantizeLinear reads, where the axis is a multiple of 4 long.
results::SparsityReport inspect_sparsity(const ir::Model& model);

}  // namespace assay::inspect
