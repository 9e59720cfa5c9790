#pragma once

#include <functional>
#include <optional>
#include <span>

#include "ir/model.h"

namespace assay::engine {

// A normalisation over the last dim that is written out in operators.
struct SpelledNorm {
  ir::ValueId data;
  ir::ValueId scale;  // invalid: none
  ir::ValueId shift;  // likewise
  float epsilon = 0;
};

// The tensor that a value always is; null: none.
using ConstantOf = std::function<const tensor::Tensor*(ir::ValueId value)>;

// What these nodes, in order, compute: ReduceMean, Sub, Pow or Mul, ReduceMean, Add, Sqrt, Div, and perhaps Mul and
// Add. Nullopt: something else.
std::optional<SpelledNorm> match_norm(const ir::Model& model, std::span<const ir::NodeId> nodes,
                                      const ConstantOf& constant);
inline constexpr size_t kLeastNormNodes = 7;
inline constexpr size_t kMostNormNodes = 9;

}  // namespace assay::engine
