#pragma once

#include "engine/layers/layer.h"

namespace assay::engine {

// True if a node computes each element of its result, float numbers or truth, from the elements at the same place of
// its operands, with broadcasting, in a way that kernels can append to others.
bool is_elementwise(const ops::Inference& inference, const ir::Model& model, ir::NodeId node);

}  // namespace assay::engine
