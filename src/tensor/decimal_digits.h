#pragma once

#include <string>

namespace assay::tensor {

// The binary format whose neighbours decide how many digits tell a number apart.
enum class FloatWidth { half, single, full };

// digits[0].digits[1]digits[2]… × 10^exponent
struct Decimal {
  std::string digits;
  int exponent = 0;
};

// The number of digits to make: the fewest that tell the number apart, but at least `least` and at most `most`, counted
// from the decimal point or from the first digit (which is not counted).
struct DigitLimits {
  static constexpr int kNone = 1 << 20;
  bool from_point = false;
  int least = -kNone;
  int most = kNone;
};

// Decimal digits of a finite number of the given width, without its sign. Digits beyond the fewest are those of its
// exact value, the last one rounded to nearest even, as numpy makes them.
Decimal decimal_digits(double value, FloatWidth width, const DigitLimits& limits);

}  // namespace assay::tensor
