#pragma once

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/kernels/movement/movement.h"

namespace assay::ops {

// Error unless input 1 (the scale) and, where given, input 2 (the zero point, of the same shape) fit the shape of input
// 0: one element for all, one for each index along `axis`, or one for each block of `block_size` along it.
void check_scale(const Infer& node);

// The places of scales: which element of the scale belongs to an element of input 0.
class ScalePlaces {
 public:
  explicit ScalePlaces(const Eval& node);

  uint64_t of(uint64_t place) const {
    if (is_one_) return 0;
    const uint64_t k = place / view_.inner % view_.length;
    if (!is_blocked_) return k;
    return (place / view_.inner / view_.length * blocks_ + k / block_size_) * view_.inner + place % view_.inner;
  }

 private:
  bool is_one_ = false;
  bool is_blocked_ = false;
  AxisView view_;
  uint64_t block_size_ = 1;
  uint64_t blocks_ = 1;
};

}  // namespace assay::ops
