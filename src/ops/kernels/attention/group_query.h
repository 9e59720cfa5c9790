#pragma once

#include <vector>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/kernels/attention/cache_codes.h"

namespace assay::ops {

// Inputs of com.microsoft::GroupQueryAttention behind query, key and value.
struct GroupQueryInputs {
  static constexpr uint32_t kPastKey = 3, kPastValue = 4, kLast = 5, kTotal = 6, kCosines = 7, kSines = 8,
                            kPositions = 9, kAddend = 10, kSink = 11, kKeyScale = 12, kValueScale = 13, kQueryNorm = 14,
                            kKeyNorm = 15;
};

// The dims of its inputs, checked.
struct GroupQueryDims {
  Dim batch, length, size;  // size of a head
  int64_t heads = 0;
  int64_t kv_heads = 0;
  Dim total;    // tokens of the longest batch entry, the new ones included
  Dim present;  // length of the caches
};
GroupQueryDims group_query_dims(const Infer& node);

// Queries, keys and values of the new tokens, as vectors of heads that are normalized and turned; and the caches that
// go on with them.
class GroupQuery {
 public:
  explicit GroupQuery(const Eval& node);

  uint64_t batch, length, heads, kv_heads, size;
  uint64_t total, present;
  std::vector<double> q;     // [batch, heads, length, size]
  std::vector<double> k, v;  // [batch, kv_heads, present, size]
  CacheCodes key_codes, value_codes;

  // Tokens of a batch entry, and how many of them were there before.
  uint64_t end(uint64_t b) const { return ends_[b]; }
  uint64_t past(uint64_t b) const { return is_prompt_ ? 0 : ends_[b] - length; }

 private:
  void read_ends(const Eval& node);
  // Heads of an input (or of the columns from `first` on, where all are packed), one token after the other.
  std::vector<double> tokens(const Eval& node, uint32_t input, uint64_t first, uint64_t count) const;
  void normalize(const Eval& node, uint32_t weights, std::vector<double>& tokens) const;
  void turn(const Eval& node, std::vector<double>& tokens, uint64_t count) const;
  std::vector<double> cache(const Eval& node, uint32_t past, const std::vector<double>& tokens,
                            const CacheCodes& codes) const;

  bool is_prompt_ = false;
  std::vector<uint64_t> ends_;
};

}  // namespace assay::ops
