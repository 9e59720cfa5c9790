#pragma once

#include <vector>

#include "engine/layers/layer.h"
#include "ops/inference.h"

namespace assay::engine {

// The nodes that expand the weights of a product, which nothing else uses, and the product itself; empty: its weights
// are not compressed, or in a way that layers do not keep.
std::vector<ir::NodeId> compressed_group(const ir::Model& model, const ops::Inference& inference, ir::NodeId product,
                                         const ConstantOf& constant);

}  // namespace assay::engine
