#pragma once

#include "engine/layers/layer.h"

namespace assay::engine {

// GELU that is written out in operators.
struct SpelledGelu {
  size_t nodes = 0;  // 0: it is something else
  bool is_by_tanh = false;
};

// The GELU that the nodes of a layer from `next` on compute of `given`: x / 2 * (1 + erf(x / sqrt(2))), or, by tanh, x
// / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), however they are arranged. No other node uses what is in
// between.
SpelledGelu match_gelu(const Layer& layer, size_t next, ir::ValueId given);

}  // namespace assay::engine
