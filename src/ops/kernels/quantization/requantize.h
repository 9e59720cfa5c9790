#pragma once

#include <vector>

#include "ops/eval.h"

namespace assay::ops {

// A real number as an element of a quantized type: rounded to the nearest even integer, moved by the zero point and
// held within the type's range. Floating types of 8 bits: the number itself, held within the finite range.
class Quantizer {
 public:
  explicit Quantizer(DType dtype);
  double operator()(double value, double zero_point) const;

 private:
  bool is_floating_;
  double lowest_;
  double highest_;
};

// A scale or zero point: one for all, or one for each item (row, column or channel).
class PerItem {
 public:
  explicit PerItem(std::vector<double> values) : values_(std::move(values)) {}
  double operator[](uint64_t item) const { return values_.size() == 1 ? values_[0] : values_[item]; }

 private:
  std::vector<double> values_;
};

}  // namespace assay::ops
