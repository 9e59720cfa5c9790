#pragma once

#include <vector>

#include "ir/rewriter.h"

namespace assay::engine {

// True if a node of ai.onnx only gives its first operand other dims, or another order of them.
bool is_move(const ir::Model& model, ir::NodeId node);

// True for a node that puts its operands one behind the other along an axis.
bool is_concat(const ir::Model& model, ir::NodeId node);

// The node of the main graph that makes a value which one node uses; invalid: there is none.
ir::NodeId producer_for_one(const ir::Model& model, ir::ValueId value);

// Nodes between where elements are computed and where they are read, each read by nothing else.
struct Moved {
  std::vector<ir::NodeId> moves;  // the last one first
  ir::NodeId maker;               // invalid: nothing of the main graph, or others read what it makes
};
Moved moved_value(const ir::Model& model, ir::ValueId value);

// Nodes for patches: like another one, and like moves, the last one first.
ir::PatchValue add_like(ir::Patch& patch, const ir::Model& model, ir::NodeId node,
                        std::vector<ir::PatchValue> operands);
ir::PatchValue add_moves(ir::Patch& patch, const ir::Model& model, const std::vector<ir::NodeId>& moves,
                         ir::PatchValue value);

}  // namespace assay::engine
