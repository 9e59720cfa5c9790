#pragma once

#include <vector>

#include "engine/device/lowering_rules.h"
#include "engine/layers/layer.h"
#include "ops/inference.h"

namespace assay::engine {

// Chains of elementwise operators whose result nothing but a reduction of neighbouring dims reads get that as their
// last node.
void append_reductions(const ir::Model& model, const ops::Inference& inference,
                       std::vector<std::vector<ir::NodeId>>& groups, const LoweringRules& rules,
                       const ConstantOf& constant);

}  // namespace assay::engine
