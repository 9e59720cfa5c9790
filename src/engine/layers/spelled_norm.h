#pragma once

#include <optional>
#include <span>

#include "engine/layers/layer.h"

namespace assay::engine {

// A normalisation over the last dim that is written out in operators.
struct SpelledNorm {
  ir::ValueId data;
  ir::ValueId scale;  // invalid: none
  ir::ValueId shift;  // likewise
  float epsilon = 0;
  bool is_rms = false;  // nothing is subtracted
};

// The normalisation that these nodes, in order, compute: ReduceMean, Sub, Pow or Mul, ReduceMean, Add, Sqrt, Div; or,
// without the mean, Pow or Mul, ReduceMean, Add, Sqrt, and Div or Reciprocal and Mul; after either perhaps Mul and Add.
// Nullopt: something else.
std::optional<SpelledNorm> match_norm(const ir::Model& model, std::span<const ir::NodeId> nodes,
                                      const ConstantOf& constant);
inline constexpr size_t kMostNormNodes = 9;

}  // namespace assay::engine
