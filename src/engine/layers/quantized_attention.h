#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/layers/quantization.h"

namespace assay::engine {

// A step on the scores of an attention before softmax.
struct ScoreChange {
  enum class Kind : uint8_t {
    scale,       // by `factor`
    add,         // `other`
    choose,      // `number` where the condition `other` is, or is not, `hidden_where`
    requantise,  // makes codes of `to`, and of these, by `from`, numbers
  };
  Kind kind = Kind::scale;
  float factor = 1;
  ir::ValueId other;
  bool hidden_where = false;
  float number = 0;
  Quantizer to, from;
};

// Attention between quantisers that is written out in operators, of which both products are of codes.
struct QuantizedAttention {
  ir::ValueId q, k, v;  // codes [..., rows, depth], [..., depth, keys], [..., keys, width]
  Quantizer q_codes, k_codes, v_codes;
  std::vector<ScoreChange> changes;
  Quantizer weights, weights_read;  // by which softmax becomes codes, and by which these are read
  std::optional<Quantizer> result;  // nullopt: it is floats
  std::vector<int64_t> order;       // of the dims of the result; empty: as they are
};

// The attention that these nodes compute: DequantizeLinear of q, k and v, MatMul, perhaps Mul or Div by a number, Where
// with a number, Add, and quantisers in between, Softmax, QuantizeLinear, DequantizeLinear, MatMul, perhaps
// QuantizeLinear and Transpose. Nullopt: something else, or of dims that are not known or broadcast otherwise than in
// the first dims.
std::optional<QuantizedAttention> match_quantized_attention(const ir::Model& model, const ops::Inference& inference,
                                                            std::span<const ir::NodeId> nodes,
                                                            const ConstantOf& constant);
inline constexpr size_t kMostScoreChanges = 8;
inline constexpr size_t kMostQuantizedAttentionNodes = 24;  // from the first MatMul on

}  // namespace assay::engine
