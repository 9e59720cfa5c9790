#pragma once

#include <optional>
#include <span>

#include "engine/layers/attention_operand.h"
#include "engine/layers/layer.h"

namespace assay::engine {

// Attention that is written out in operators: softmax(q * k * scale + mask) * v, row by row.
struct SpelledAttention {
  AttentionOperand q;      // [..., rows, depth]
  AttentionOperand k;      // [..., depth, keys]
  AttentionOperand v;      // [..., keys, width]
  ir::ValueId mask;        // is added; invalid: none
  ir::ValueId conditions;  // of which those that are `hidden_where` hide a key: its score becomes `hidden`, before the
  bool hidden_where = false;  // mask; invalid: none
  float hidden = 0;
  float scale = 1;
  bool divides = false;            // by the scale
  bool zeroes_no_number = false;   // weights that are NaN count as 0
  std::vector<int64_t> order;      // of the dims of the result; empty: as they are
  std::vector<ir::NodeId> before;  // nodes that make operands of q, k and v, in order
};

// The attention that these nodes compute, in order from the first MatMul on: MatMul, perhaps Mul or Div by a number,
// perhaps Where with a number, perhaps Add, Softmax, perhaps IsNaN and Where, MatMul, perhaps Transpose. Those before
// the first MatMul are `before`, or have not been collected yet. Nullopt: something else, or of dims that are not known
// or broadcast otherwise than in the first dims.
std::optional<SpelledAttention> match_attention(const ir::Model& model, const ops::Inference& inference,
                                                std::span<const ir::NodeId> nodes, const ConstantOf& constant);
inline constexpr size_t kMostAttentionNodes = 9;  // from the first MatMul on

}  // namespace assay::engine
