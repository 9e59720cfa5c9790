#pragma once

#include <span>
#include <string>

#include "tensor/decimal_digits.h"

namespace assay::tensor {

enum class SignStyle { only_minus, always };

// Lays out the floating-point elements of one array as numpy's FloatingFormat does: one notation and aligned decimal
// points for all of them, eight digits at most.
class FloatColumn {
 public:
  FloatColumn(std::span<const double> values, FloatWidth width, SignStyle sign);
  std::string text(double value) const;

 private:
  void choose_notation(std::span<const double> finite);
  void measure(std::span<const double> finite);
  void make_room_for_words(std::span<const double> values);
  std::string special_text(double value) const;

  FloatWidth width_;
  SignStyle sign_;
  bool scientific_ = false;
  int before_point_ = 0;  // characters, with the sign
  int after_point_ = 0;
  int exponent_digits_ = 2;
};

// A single number as numpy prints a scalar.
std::string float_scalar_text(double value, FloatWidth width);
std::string complex_scalar_text(double real, double imaginary, FloatWidth width);

}  // namespace assay::tensor
