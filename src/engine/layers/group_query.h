#pragma once

#include <array>
#include <optional>

#include "engine/layers/attention_geometry.h"

namespace assay::engine {

// com.microsoft's GroupQueryAttention over caches with room for all tokens.
struct GroupQuery {
  // Inputs; the past of values follows.
  static constexpr size_t kPast = 3, kLast = 5, kTotal = 6, kCosines = 7, kSines = 8;
  // New vectors of an input, [batch, length, columns], from a column on.
  struct Fresh {
    size_t input = 0;
    int64_t columns = 0, first = 0;
  };

  tensor::DType dtype = tensor::DType::float32;  // of all but numbers of tokens
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
// The attention itself: queries are input 0, or, where they are turned, lie as those of one that has nothing else; keys
// and values are read in the caches that are given out.
AttentionGeometry group_query_geometry(const GroupQuery& query);

}  // namespace assay::engine
