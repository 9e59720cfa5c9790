#pragma once

#include <vector>

#include "engine/device/lowering_rules.h"
#include "engine/layers/layer.h"

namespace assay::engine {

// Normalisations of 16-bit rows that only a product by constant columns reads become part of its layer, where the
// device wants products of so many rows to be fused; what groups of them were before is left empty.
void join_norms(const ir::Model& model, const ops::Inference& inference, const LoweringRules& rules,
                const ConstantOf& constant, std::vector<std::vector<ir::NodeId>>& groups);

// True if a product multiplies rows of 16-bit floats, and no more of them than the device fuses.
bool has_fused_rows(const ir::Model& model, const ops::Inference& inference, const LoweringRules& rules,
                    ir::NodeId product);

// The product with the node behind it that halves its columns, if what follows takes both halves and the device wants
// such layers; otherwise as it is given.
std::vector<ir::NodeId> with_halves(const ir::Model& model, const ops::Inference& inference, const LoweringRules& rules,
                                    std::vector<ir::NodeId> product);

}  // namespace assay::engine
