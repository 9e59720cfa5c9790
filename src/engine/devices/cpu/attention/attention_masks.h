#pragma once

#include "base/function_ref.h"
#include "engine/devices/cpu/attention/attention_operands.h"

namespace assay::engine::cpu {

// The addends of scores, of masks and of conditions.
class AttentionMasks {
 public:
  explicit AttentionMasks(const AttentionOperands& operands) : operands_(operands) {}

  // For each of some queries as many numbers as there are keys; null: nothing is added.
  struct Rows {
    const float* first = nullptr;
    int64_t row = 0;  // from one to the next
    const float* of(int64_t row_number) const { return first == nullptr ? nullptr : first + row_number * row; }
  };
  // Reads the addends of not more than kQueries rows.
  Rows read(const AttentionChunk& chunk, AttentionRange rows, AttentionRange keys) const;
  struct Hiding {
    const Rows& masks;
    FunctionRef<float()> reach;  // AttentionProducts::reach
  };
  // The number of first keys that are left without those at the end that no row gives a weight: what the mask adds
  // there is so far below what it adds to the first key, or the greatest score so far, that the exponential is 0.
  static int64_t count_shown(const AttentionChunk& chunk, AttentionRange rows, AttentionRange keys,
                             const Hiding& hiding);
  // Scores in whose place something comes become 0.
  void replace(const AttentionChunk& chunk, int64_t row, AttentionRange keys, float* scores) const;

 private:
  void add_conditions(const AttentionChunk& chunk, int64_t row, AttentionRange keys, float* mask) const;

  const AttentionOperands& operands_;
};

}  // namespace assay::engine::cpu
