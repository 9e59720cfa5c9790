#pragma once

#include <vector>

#include "engine/device/lowering_rules.h"
#include "engine/layers/layer.h"
#include "ir/rewriter.h"
#include "ops/inference.h"

namespace assay::engine {

// True if a node is a DequantizeLinear with one scale to float32.
bool is_dequantizer(const ir::Model& model, const ops::Inference& inference, ir::NodeId node);

// Before: DequantizeLinear with one scale, whose result has several uses
// After:  one for each use, so that each may become part of another layer
// Class: exact
void split_dequantized(ir::Model& model, ir::Rewriter& rewriter);

// Before: DequantizeLinear of a constant that no layer of integers or of compressed weights takes in
// After:  the constant as floats
// Class: exact
// Gives the number of steps.
uint64_t expand_weights(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules);

// A product and the nodes that dequantise its operands, which nothing else uses, or a MatMulInteger or ConvInteger and
// its Cast; empty: it is not one of integers, nor of float8 where a device has such, or has so few rows that these read
// compressed weights faster.
std::vector<ir::NodeId> quantized_group(const ir::Model& model, const ops::Inference& inference, ir::NodeId product,
                                        const ConstantOf& constant, const LoweringRules& rules);

// The nodes that dequantise operands of a group and that nothing else uses, in the order of the graph.
std::vector<ir::NodeId> dequantizers_of(const ir::Model& model, const ops::Inference& inference,
                                        const std::vector<ir::NodeId>& group);

}  // namespace assay::engine
