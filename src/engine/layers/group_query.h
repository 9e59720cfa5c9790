#pragma once

#include <array>
#include <optional>

#include "engine/layers/layer.h"

namespace assay::engine {

// com.microsoft's GroupQueryAttention of float32 over caches with room for all tokens.
struct GroupQuery {
  // Inputs; the past of values follows.
  static constexpr size_t kPast = 3, kLast = 5, kTotal = 6, kCosines = 7, kSines = 8;
  // New vectors of an input, [batch, length, columns], from a column on.
  struct Fresh {
    size_t input = 0;
    int64_t columns = 0, first = 0;
  };

  int64_t batch = 0, length = 0, heads = 0, kv_heads = 0, size = 0;
  int64_t room = 0;     // of the past
  int64_t present = 0;  // length of the caches that are given out
  int64_t half = 0;     // pairs that are turned; 0: none
  int64_t angles = 0;   // positions that have cosines and sines
  bool interleaves = false;
  bool is_prompt = false;
  bool is_causal = false;
  Fresh q;
  std::array<Fresh, 2> fresh;  // keys and values
  float scale = 1;
};

// Nullopt: another operator, or one with windows, soft caps, other types, or a number of tokens that is computed.
std::optional<GroupQuery> find_group_query(const Layer& layer);

}  // namespace assay::engine
