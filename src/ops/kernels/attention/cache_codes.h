#pragma once

#include <string_view>
#include <vector>

#include "ops/eval.h"
#include "ops/infer.h"

namespace assay::ops {

// Codes of a cache [batch, heads, length, size], of 8 bits, or of 4 of which two stand in a byte, the lower first and
// each 8 more than it means. They are whole multiples of one scale, or of one for each head and place in it.
class CacheCodes {
 public:
  // `kind` is the attribute of the cache, `scales` the input.
  CacheCodes(const Node& node, std::string_view kind);
  // Error where types, the scale, or the width of the cache do not fit.
  void check(const Infer& node, uint32_t cache, uint32_t scales) const;

  bool are_used() const { return bits_ != 0; }
  DType dtype() const { return bits_ == 8 ? DType::int8 : DType::uint8; }
  // The last dim of a cache with vectors of this size.
  Dim width(const Dim& size) const { return bits_ == 4 ? ceil_div(size, 2) : size; }

  void read_scales(const Eval& node, uint32_t scales, uint64_t heads, uint64_t size);
  // Numbers of an input.
  std::vector<double> decoded(const Eval& node, uint32_t cache) const;
  // A number as the cache keeps it; `place` is that of the number in [heads, size].
  double kept(double number, uint64_t place) const { return static_cast<double>(code(number, place)) * scales_[place]; }
  // The bytes of numbers [batch, heads, length, size] that the cache keeps.
  std::vector<int64_t> encoded(const std::vector<double>& numbers, uint64_t length) const;

 private:
  int64_t code(double number, uint64_t place) const;

  int64_t bits_ = 0;  // 0: the cache holds numbers
  bool is_by_channel_ = false;
  uint64_t size_ = 0;
  std::vector<double> scales_;  // [heads, size]
};

}  // namespace assay::ops
