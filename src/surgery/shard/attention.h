#pragma once

#include <vector>

#include "ir/model.h"

namespace assay::surgery {

// An attention layer of the main graph: MatMul, Softmax, MatMul with scales, masks and casts between, or one node
// Attention.
struct AttentionLayer {
  ir::ValueId q;
  ir::ValueId k;
  ir::ValueId v;
  ir::NodeId last;     // whose result the layer gives
  ir::NodeId between;  // a node between MatMul and Softmax or behind Softmax; invalid: there is none
  bool is_attention_op = false;
};

// All layers, in the order of the graph.
std::vector<AttentionLayer> find_attention(const ir::Model& model);

}  // namespace assay::surgery
