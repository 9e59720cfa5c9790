#pragma once

#include <vector>

#include "base/function_ref.h"
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/kernels/attention/scaled_scores.h"

namespace assay::ops {

// Attention of many heads: q [batch, heads, queries, size], k [batch, kv_heads, keys, size] and v [batch, kv_heads,
// keys, value_size]. Each head of keys and values serves heads / kv_heads heads of queries in a row.
struct GroupedHeads {
  uint64_t batch = 0;
  uint64_t heads = 0;
  uint64_t kv_heads = 0;
  AttentionHead head;
};

// Makes weights of the scores of query `i` of head `h` of batch entry `b`. Called from several threads.
using WeighScores = FunctionRef<void(uint64_t b, uint64_t h, uint64_t i, std::span<double> scores)>;

// The mixed values [batch, heads, queries, value_size].
std::vector<double> attend(const GroupedHeads& what, const std::vector<double>& q, const std::vector<double>& k,
                           const std::vector<double>& v, double scale, WeighScores weigh);

// [batch, heads, queries, value_size] as [batch, queries, heads * value_size].
std::vector<double> pack_attended(const std::vector<double>& values, const GroupedHeads& heads);

// An integer mask over keys: [batch, keys] or [batch, queries, keys] with a positive number where a key counts; or a
// list with where the keys of each batch entry end and, in a list of twice as many, where they begin. What else is in a
// list of 3 * batch + 2 does not count.
class KeyMask {
 public:
  KeyMask(const Eval& node, uint32_t input, const GroupedHeads& heads);
  bool hides(uint64_t b, uint64_t i, uint64_t key) const;

 private:
  uint64_t batch_, queries_, keys_;
  size_t rank_ = 0;
  std::vector<int64_t> mask_;
};

// Error where the shape of such a mask does not fit.
void check_key_mask(const Infer& node, uint32_t input, const Dim& batch, const Dim& queries, const Dim& keys);

}  // namespace assay::ops
