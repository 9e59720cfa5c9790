#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/devices/cpu/attention/attention_cache.h"

namespace assay::engine::cpu {

// Joins heads that share keys and values, and of which one row each is read, as rows, if that leaves enough items for
// all threads.
void join_rows_of_heads(AttentionGeometry& geometry);

// Rows of q, of the mask and of the result must be dense; those of bfloat16, in which nothing is computed, of v and of
// k or its transpose too, and of k and all caches if there are any.
std::unique_ptr<PlainKernel> make_attention(AttentionGeometry geometry);

}  // namespace assay::engine::cpu
