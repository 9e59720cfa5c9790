#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/devices/cpu/attention/attention_cache.h"

namespace assay::engine::cpu {

// softmax(q * k * scale + mask) * v for every item. Rows of q, of the mask and of the result must be dense; those of
// bfloat16, in which nothing is computed, of v and of k or its transpose too, and of k and all caches if there are any.
struct AttentionGeometry {
  tensor::DType dtype = tensor::DType::float32;
  std::vector<int64_t> items;
  int64_t rows = 0, keys = 0, depth = 0, width = 0;
  Matrices q, k, v, mask, out;  // k: rows are keys
  AttentionCache k_cache, v_cache;
  float scale = 1;
  bool divides = false;    // by the scale
  bool is_causal = false;  // row i sees the first past + i + 1 keys
  int64_t past = 0;
  Matrices last_key;            // an int32 of each item: keys behind this one are not seen
  bool ends_with_last = false;  // the last row is at that key, whatever `past` is
  Matrices conditions;          // bytes, with dense rows: those that are 0, or are not where `hidden_where`, hide a key
  bool hidden_where = false;
  float hidden = 0;                    // is added to a hidden score, before the mask
  bool replaces = false;               // put in the place of the score instead of added
  bool zeroes_what_sees_none = false;  // rows of which everything is hidden; otherwise they are NaN
  bool zeroes_no_number = false;       // rows of which a score is NaN or infinite, or everything is hidden
  bool may_round_weights = false;      // to the type, where it is bfloat16
};

// Joins heads that share keys and values, and of which one row each is read, as rows, if that leaves enough items for
// all threads.
void join_rows_of_heads(AttentionGeometry& geometry);

// Decides how caches are written that results hold.
void set_cache_sizes(AttentionGeometry& geometry);

std::unique_ptr<PlainKernel> make_attention(AttentionGeometry geometry);

}  // namespace assay::engine::cpu
