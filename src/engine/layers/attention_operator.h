#pragma once

#include <optional>

#include "engine/layers/attention_geometry.h"

namespace assay::engine {

// The attention of a layer of one operator, Attention or com.microsoft's MultiHeadAttention. Nullopt: another operator,
// or one that is not known to this reader in all its operands and attributes.
std::optional<AttentionGeometry> read_attention_operator(const Layer& layer);

}  // namespace assay::engine
