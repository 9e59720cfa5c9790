#pragma once

#include <vector>

#include "ir/model.h"
#include "results/sparsity.h"

namespace assay::surgery {

// A weight and the axis of it that an operator sums over.
struct SparsityCandidate {
  std::string name;
  ir::TensorId tensor;
  int64_t axis;           // below 0: counted from the end
  ir::NodeId dequantize;  // the DequantizeLinear that reads it; invalid: none
  friend auto operator<=>(const SparsityCandidate&, const SparsityCandidate&) = default;
};

// The weights of Conv, ConvTranspose, MatMul and Gemm in the order of their first use, each axis of a weight once.
// Weights that cannot be traced go into `skipped`.
std::vector<SparsityCandidate> find_sparsity_candidates(const ir::Model& model,
                                                        std::vector<results::SkippedWeight>& skipped);

}  // namespace assay::surgery
