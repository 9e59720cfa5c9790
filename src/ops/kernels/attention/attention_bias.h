#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "ops/eval.h"
#include "ops/kernels/elements/broadcast.h"

namespace assay::ops {

struct AttentionInputs {
  static constexpr uint32_t kMask = 3, kPastKey = 4, kPastValue = 5, kValidKeys = 6;
};

// The number of keys beside its own place that a query sees; -1: all.
int64_t attention_window(const Node& node, std::string_view name);

// The numbers that Attention adds to its scores [batch, heads, queries, keys]: minus infinity for a key that a query
// must not see.
class AttentionBias {
 public:
  static constexpr double kMasked = -std::numeric_limits<double>::infinity();

  AttentionBias(const Eval& node, const Shape& scores);
  // The row of query `i` of a head of the batch entry `b`; `head` counts over the batch.
  void row(uint64_t b, uint64_t head, uint64_t i, std::span<double> out) const;

 private:
  void read_mask(uint64_t first, std::span<double> out) const;

  Shape scores_;
  bool is_causal_;
  int64_t left_, right_;
  int64_t past_ = 0;
  std::vector<int64_t> valid_;
  std::optional<BroadcastReader> reader_;
  uint64_t mask_length_ = 0;
  bool is_boolean_ = false;
};

}  // namespace assay::ops
