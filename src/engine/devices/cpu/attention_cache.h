#pragma once

#include <vector>

#include "engine/devices/cpu/attention_blocks.h"

namespace assay::engine::cpu {

// Keys or values that a result holds for the next run: those of the past, and behind them the new ones. Items are batch
// entries and heads; elements of a row are dense.
struct AttentionCache {
  Matrices past, fresh;  // no past: there is none
  int64_t batch = 0, heads = 0, past_rows = 0, rows = 0, width = 0;
  size_t result = 0;  // [batch, heads, past_rows + rows, width]
};

// First fills the caches, which the attention may then read.
std::unique_ptr<Kernel> make_cached_attention(std::vector<AttentionCache> caches, AttentionGeometry geometry);

}  // namespace assay::engine::cpu
