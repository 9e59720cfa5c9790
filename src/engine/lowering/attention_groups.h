#pragma once

#include <vector>

#include "engine/spelled_norm.h"
#include "ops/inference.h"

namespace assay::engine {

// The nodes of an attention that begins with this product, each the only user of the one before; empty: there is none.
std::vector<ir::NodeId> attention_group(const ir::Model& model, const ops::Inference& inference, ir::NodeId product,
                                        const ConstantOf& constant);

}  // namespace assay::engine
