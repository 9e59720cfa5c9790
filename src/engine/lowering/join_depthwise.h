#pragma once

#include <vector>

#include "engine/device/lowering_rules.h"
#include "ops/inference.h"

namespace assay::engine {

// Depthwise convolutions whose result, or that of what follows them, only a convolution of single pixels reads become
// part of the layer of that one, up to the size that the device wants; what they were before is left empty.
void join_depthwise(const ir::Model& model, const ops::Inference& inference, const LoweringRules& rules,
                    std::vector<std::vector<ir::NodeId>>& groups);

}  // namespace assay::engine
