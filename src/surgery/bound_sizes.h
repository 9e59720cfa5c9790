#pragma once

#include <cstdint>
#include <span>

#include "ir/edit.h"

namespace assay::surgery {

struct SizeBound {
  ir::ValueId value;
  int64_t bound = 0;
};

// Inserts a Min after the node that computes each value, so that compilers for fixed memory know its greatest
// size: `t` is now Min(`t_copy`, `t_upper_bound`), in the value's own type. Error (usage) for values that
// are not integer or floating tensors or are not computed, (unsupported) below opset 12, whose Min has no integers.
void bound_sizes(ir::Model& model, std::span<const SizeBound> bounds);

}  // namespace assay::surgery
