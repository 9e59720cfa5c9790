#pragma once

#include "engine/layers/layer.h"
#include "ops/inference.h"

namespace assay::engine {

// True for a node that rounds floats to float8e4m3fn or float8e5m2, or that makes floats of them: QuantizeLinear and
// DequantizeLinear with one scale and without a zero point, and Casts.
bool is_float8_step(const ir::Model& model, const ops::Inference& inference, ir::NodeId node);
// True for one of two such nodes of which the second is the only one to read the first: steps of one chain, in which
// nobody sees the 8 bits.
bool is_of_float8_pair(const ir::Model& model, const ops::Inference& inference, ir::NodeId node);

}  // namespace assay::engine
