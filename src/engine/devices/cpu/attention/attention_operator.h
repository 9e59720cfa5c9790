#pragma once

#include <optional>

#include "engine/devices/cpu/attention/attention_blocks.h"

namespace assay::engine::cpu {

// The attention of a layer of one operator, Attention or com.microsoft's MultiHeadAttention. Nullopt: another operator,
// or something that the kernel does not compute.
std::optional<AttentionGeometry> read_attention_operator(const Layer& layer);

}  // namespace assay::engine::cpu
