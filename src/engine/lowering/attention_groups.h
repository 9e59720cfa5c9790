#pragma once

#include <vector>

#include "engine/layers/layer.h"
#include "ops/inference.h"

namespace assay::engine {

// The nodes of an attention that begins with this product, each the only user of the one before; empty: there is none.
std::vector<ir::NodeId> attention_group(const ir::Model& model, const ops::Inference& inference, ir::NodeId product,
                                        const ConstantOf& constant);

// The nodes of an attention of codes, with the nodes that dequantise what it multiplies.
std::vector<ir::NodeId> quantized_attention_group(const ir::Model& model, const ops::Inference& inference,
                                                  ir::NodeId product, const ConstantOf& constant);

// The nodes of each cache that the attention of such a group reads and that can be part of its layer.
std::vector<std::vector<ir::NodeId>> cache_groups(const ir::Model& model, const ops::Inference& inference,
                                                  const std::vector<ir::NodeId>& group, const ConstantOf& constant);

}  // namespace assay::engine
