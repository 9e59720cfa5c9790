#pragma once

#include <vector>

#include "engine/layers/attention_geometry.h"
#include "engine/layers/quantized_attention.h"

namespace assay::engine {

// The matrices of an attention of codes as its operands lie.
struct CodeMatrices {
  std::vector<int64_t> items;
  int64_t rows = 0, keys = 0, depth = 0, width = 0;
  Matrices q, k, v, out;         // k: rows are keys
  std::vector<Matrices> others;  // that scores are changed by, for each change; most have none
};

CodeMatrices code_matrices(const Layer& layer, const QuantizedAttention& attention);

// The least of a quantiser's codes, less the zero point.
float least_of(const Quantizer& quantizer);

}  // namespace assay::engine
