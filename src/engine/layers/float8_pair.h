#pragma once

#include "engine/layers/layer.h"
#include "ops/inference.h"

namespace assay::engine {

// A node that rounds floats to float8e4m3fn or float8e5m2, or the only one behind it, which makes floats of them again:
// QuantizeLinear and DequantizeLinear with one scale and without a zero point, or Casts. Both are steps of one chain
// then, and nobody sees the 8 bits.
bool is_of_float8_pair(const ir::Model& model, const ops::Inference& inference, ir::NodeId node);

}  // namespace assay::engine
