#include "tensor/decimal_digits.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tensor/big_uint.h"

namespace assay::tensor {
namespace {

struct Layout {
  int mantissa_bits;
  int smallest_exponent;
};

Layout layout(FloatWidth width) {
  switch (width) {
    case FloatWidth::half:
      return {10, -14};
    case FloatWidth::single:
      return {23, -126};
    case FloatWidth::full:
      break;
  }
  return {52, -1022};
}

// The remainder of the number after the digits made so far, and half the distance to its neighbours, all over `scale`
// (Steele and White's method, as numpy's Dragon4).
class Remainder {
 public:
  Remainder(double magnitude, const Layout& format) {
    const int exponent = std::max(std::ilogb(magnitude), format.smallest_exponent);
    const double scaled = std::ldexp(magnitude, format.mantissa_bits - exponent);
    const auto mantissa = static_cast<uint64_t>(scaled);
    const bool is_power = mantissa == uint64_t{1} << format.mantissa_bits;
    is_even_ = mantissa % 2 == 0;
    const int shift = exponent - format.mantissa_bits;
    value_ = BigUint(4 * mantissa);
    low_ = BigUint(is_power && exponent > format.smallest_exponent ? 1 : 2);
    high_ = BigUint(2);
    for (BigUint* number : {&value_, &low_, &high_}) number->shift_left(std::max(shift, 0));
    scale_.shift_left(std::max(-shift, 0));
    // The logarithm may be off by one; the first digit shows it.
    exponent_ = static_cast<int>(std::floor(std::log10(magnitude)));
    scale_.multiply_by_power(10, std::max(exponent_, 0));
    for (int i = exponent_; i < 0; ++i) multiply_by_ten();
    correct_exponent();
  }

  int exponent() const { return exponent_; }

  int next_digit() {
    int digit = 0;
    for (; value_ >= scale_; ++digit) value_.subtract(scale_);
    return digit;
  }

  void multiply_by_ten() {
    for (BigUint* number : {&value_, &low_, &high_}) number->multiply(10);
  }

  // The digits so far are near enough to the number to mean it.
  bool may_end_below() const { return is_even_ ? value_ <= low_ : value_ < low_; }
  // True if the digits so far, with one more in the last digit, are near enough to the number to mean it.
  bool may_end_above() const {
    BigUint sum = value_;
    sum.add(high_);
    return is_even_ ? sum >= scale_ : sum > scale_;
  }
  std::strong_ordering compare_with_half() const {
    BigUint twice = value_;
    twice.multiply(2);
    return twice <=> scale_;
  }

 private:
  void correct_exponent() {
    BigUint ten_scales = scale_;
    ten_scales.multiply(10);
    if (value_ >= ten_scales) {
      scale_ = ten_scales;
      ++exponent_;
    } else if (value_ < scale_) {
      multiply_by_ten();
      --exponent_;
    }
  }

  BigUint value_{0};
  BigUint scale_{4};
  BigUint low_{0};
  BigUint high_{0};
  bool is_even_ = false;
  int exponent_ = 0;
};

void round_up(Decimal& decimal) {
  while (!decimal.digits.empty() && decimal.digits.back() == '9') decimal.digits.pop_back();
  if (decimal.digits.empty()) {
    decimal.digits.assign(1, '1');
    ++decimal.exponent;
  } else {
    ++decimal.digits.back();
  }
}

bool must_round_up(const Remainder& rest, int last_digit) {
  const bool below = rest.may_end_below();
  if (below != rest.may_end_above()) return !below;
  const std::strong_ordering half = rest.compare_with_half();
  return half > 0 || (half == 0 && last_digit % 2 == 1);
}

}  // namespace

Decimal decimal_digits(double value, FloatWidth width, const DigitLimits& limits) {
  if (value == 0) return {"0", 0};
  Remainder rest(std::fabs(value), layout(width));
  Decimal result{"", rest.exponent()};
  const int origin = limits.from_point ? 0 : rest.exponent();
  for (int place = rest.exponent();; --place) {
    const int digit = rest.next_digit();
    result.digits += static_cast<char>('0' + digit);
    const bool may_end = rest.may_end_below() || rest.may_end_above();
    const bool ends = (may_end && place <= origin - limits.least) || place <= origin - limits.most;
    if (ends) {
      if (must_round_up(rest, digit)) round_up(result);
      return result;
    }
    rest.multiply_by_ten();
  }
}

}  // namespace assay::tensor
