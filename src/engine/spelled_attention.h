#pragma once

#include <optional>
#include <span>

#include "engine/layer.h"
#include "engine/spelled_norm.h"

namespace assay::engine {

// Attention that is written out in operators: softmax(q * k * scale + mask) * v, row by row.
struct SpelledAttention {
  ir::ValueId q;     // [..., rows, depth]
  ir::ValueId k;     // [..., depth, keys]
  ir::ValueId v;     // [..., keys, width]
  ir::ValueId mask;  // is added; invalid: none
  float scale = 1;
  bool divides = false;        // by the scale
  std::vector<int64_t> order;  // of the dims of the result; empty: as they are
};

// What these nodes, in order, compute: MatMul, perhaps Mul or Div by a number, perhaps Add, Softmax, MatMul, perhaps
// Transpose. Nullopt: something else, or of dims that are not known or broadcast otherwise than in the first dims.
std::optional<SpelledAttention> match_attention(const ir::Model& model, const ops::Inference& inference,
                                                std::span<const ir::NodeId> nodes, const ConstantOf& constant);
inline constexpr size_t kMostAttentionNodes = 6;

}  // namespace assay::engine
