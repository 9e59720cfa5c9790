#pragma once

#include <span>

#include "debug/accuracy/layer_oracle.h"

namespace assay::debug {

// The exact result of a product on several first operands at once, so that its weights are read once: these stand one
// after the other along the first axis, whose entries a product keeps apart. In the order of `operands`. Nothing where
// the layer is no Conv or MatMul with constant weights, the first operands differ in type or shape, or it fails. What
// operands are off from the first is multiplied in float32 where it is small beside them.
std::optional<std::vector<Datum>> products_together(const ir::Model& model, ir::NodeId node,
                                                    std::span<const OperandSource> operands, LayerOracle& oracle);

}  // namespace assay::debug
