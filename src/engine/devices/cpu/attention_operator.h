#pragma once

#include <optional>
#include <vector>

#include "engine/devices/cpu/attention_cache.h"

namespace assay::engine::cpu {

struct AttentionOperator {
  AttentionGeometry geometry;
  std::vector<AttentionCache> caches;  // that the layer gives out
};

// What a layer of one operator computes, Attention or com.microsoft's MultiHeadAttention. Nullopt: another operator, or
// something that the kernel does not compute.
std::optional<AttentionOperator> read_attention_operator(const Layer& layer);

}  // namespace assay::engine::cpu
