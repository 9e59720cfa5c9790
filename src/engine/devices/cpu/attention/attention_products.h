#pragma once

#include "engine/devices/cpu/attention/attention_operands.h"

namespace assay::engine::cpu {

// The products of an attention with a block of keys and its values, for one type of numbers.
class AttentionProducts {
 public:
  explicit AttentionProducts(const AttentionOperands& operands) : operands_(operands) {}
  virtual ~AttentionProducts() = default;
  AttentionProducts(const AttentionProducts&) = delete;
  AttentionProducts& operator=(const AttentionProducts&) = delete;

  // Reads a block; afterwards its values or keys can be multiplied.
  virtual void read_values(const AttentionChunk& chunk, AttentionRange keys) const = 0;
  virtual void read_keys(const AttentionChunk& chunk, AttentionRange keys) const = 0;
  // Scores rows with so many of the first keys.
  virtual void score(const AttentionChunk& chunk, AttentionRange rows, int64_t count) const = 0;
  // Makes the first scores of a row weights, as RowKernels::softmax_block does; those up to `count` become nothing.
  struct Row {
    float* scores;
    const float* mask;
    int64_t seen, count;
    SoftmaxSoFar& state;
  };
  virtual void weigh(const Row& row) const = 0;
  // Times their weights, of the first keys of a block.
  virtual void add_values(const AttentionChunk& chunk, AttentionRange rows, AttentionRange keys) const = 0;
  // A row of the result: the sums times the factor. It may spoil them.
  virtual void give_out(float* sums, float factor, std::byte* out) const = 0;
  // The greatest that a score may be in size, before the mask; infinite or NaN where a number of the block or of the
  // chunk's queries is.
  float reach(const AttentionChunk& chunk, AttentionRange keys) const;

 protected:
  // In size; NaN is the greatest of all.
  struct Greatest {
    float query, key, value;
  };
  virtual Greatest greatest_of(const AttentionChunk& chunk, AttentionRange keys) const = 0;

  const AttentionOperands& operands_;
};

std::unique_ptr<AttentionProducts> make_float_attention(const AttentionOperands& operands);
// Products of pairs of bfloat16, to which weights are rounded; null: the numbers are others, or this processor does not
// multiply them.
std::unique_ptr<AttentionProducts> make_pair_attention(const AttentionOperands& operands);

}  // namespace assay::engine::cpu
