#pragma once

#include <cstdint>

#include "ir/model.h"

namespace assay::backends {

// Spells TensorRT's Attention of several ranks, which sharding writes for fused layers, by collectives and
// operators of ONNX: keys and values are gathered, since each rank has a part of them. Error (unsupported) for one that
// masks by places, or whose operands have no known rank; (usage) if it is made for another number of ranks.
void spell_fused_attention(ir::Model& model, int64_t ranks);

}  // namespace assay::backends
