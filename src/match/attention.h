#pragma once

#include <optional>
#include <vector>

#include "ir/model.h"

namespace assay::match {

// An attention layer of the main graph: MatMul, Softmax, MatMul with scales, masks and casts between, or one node
// Attention.
struct AttentionLayer {
  ir::ValueId q;
  ir::ValueId k;
  ir::ValueId v;
  ir::NodeId last;                 // gives the layer's result
  std::vector<ir::NodeId> before;  // nodes between MatMul and Softmax, from Softmax back
  ir::NodeId behind;               // a node after Softmax; invalid: none
  // If Q and K are both products: their factors.
  struct Scaled {
    ir::ValueId q;
    ir::ValueId k;
    ir::ValueId q_scale;
    ir::ValueId k_scale;
  };
  std::optional<Scaled> scaled;
  bool is_attention_op = false;
};

// All layers, in the order of the graph.
std::vector<AttentionLayer> attention(const ir::Model& model);

}  // namespace assay::match
