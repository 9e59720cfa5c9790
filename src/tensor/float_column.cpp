#include "tensor/float_column.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <fmt/core.h>

#include "tensor/casts.h"
#include "tensor/float_format.h"

namespace assay::tensor {
namespace {

constexpr int kPrecision = 8;
constexpr double kLargestRatio = 1000;
constexpr double kSmallestPositional = 1e-4;

// The parts of a number's text; the fraction is without the point and without trailing zeros.
struct Parts {
  std::string whole;
  std::string fraction;
  int exponent = 0;
};

std::string sign_text(double value, SignStyle sign) {
  if (std::signbit(value)) return "-";
  return sign == SignStyle::always ? "+" : "";
}

std::string without_trailing_zeros(std::string digits) {
  digits.erase(digits.find_last_not_of('0') + 1);
  return digits;
}

Parts positional(double value, FloatWidth width, int most) {
  const Decimal decimal = decimal_digits(value, width, {.from_point = true, .most = most});
  std::string digits = decimal.digits;
  if (decimal.exponent < 0) digits.insert(0, static_cast<size_t>(-decimal.exponent), '0');
  const auto whole = static_cast<size_t>(std::max(decimal.exponent, 0)) + 1;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  return {digits.substr(0, whole), without_trailing_zeros(digits.substr(whole))};
}

Parts scientific(double value, FloatWidth width, const DigitLimits& limits) {
  const Decimal decimal = decimal_digits(value, width, limits);
  return {decimal.digits.substr(0, 1), without_trailing_zeros(decimal.digits.substr(1)), decimal.exponent};
}

std::string exponent_text(int exponent, int digits) {
  return fmt::format("e{}{:0{}}", exponent < 0 ? '-' : '+', std::abs(exponent), digits);
}

double rounded(double value, FloatWidth width) {
  switch (width) {
    case FloatWidth::half:
      return decode<kFloat16>(encode<kFloat16>(value));
    case FloatWidth::single:
      return static_cast<float>(value);
    case FloatWidth::full:
      break;
  }
  return value;
}

// Decimal digits that every number of the width can hold: beyond that power of ten numpy changes the notation.
int whole_digits(FloatWidth width) {
  switch (width) {
    case FloatWidth::half:
      return 3;
    case FloatWidth::single:
      return 6;
    case FloatWidth::full:
      break;
  }
  return 15;
}

int length(const std::string& text) { return static_cast<int>(text.size()); }

std::string padded_left(const std::string& text, int size) {
  return std::string(static_cast<size_t>(std::max(size - length(text), 0)), ' ') + text;
}

}  // namespace

FloatColumn::FloatColumn(std::span<const double> values, FloatWidth width, SignStyle sign)
    : width_(width), sign_(sign) {
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite), [](double value) { return std::isfinite(value); });
  choose_notation(finite);
  measure(finite);
  if (finite.size() != values.size()) make_room_for_words(values);
}

void FloatColumn::choose_notation(std::span<const double> finite) {
  double largest = 0;
  double smallest = std::numeric_limits<double>::infinity();
  for (const double value : finite) {
    largest = std::max(largest, std::fabs(value));
    if (value != 0) smallest = std::min(smallest, std::fabs(value));
  }
  if (largest == 0) return;
  const double limit = std::pow(10.0, std::min(kPrecision, whole_digits(width_)));
  // numpy compares and divides in the array's own type.
  scientific_ = largest >= limit || smallest < rounded(kSmallestPositional, width_) ||
                rounded(largest / smallest, width_) > kLargestRatio;
}

void FloatColumn::measure(std::span<const double> finite) {
  for (const double value : finite) {
    const Parts parts =
        scientific_ ? scientific(value, width_, {.most = kPrecision}) : positional(value, width_, kPrecision);
    before_point_ = std::max(before_point_, length(sign_text(value, sign_) + parts.whole));
    after_point_ = std::max(after_point_, length(parts.fraction));
    exponent_digits_ = std::max(exponent_digits_, length(fmt::format("{}", std::abs(parts.exponent))));
  }
}

void FloatColumn::make_room_for_words(std::span<const double> values) {
  constexpr int kWord = 3;  // nan, inf
  const auto is_minus_infinity = [](double value) { return std::isinf(value) && value < 0; };
  const bool has_sign = sign_ == SignStyle::always || std::ranges::any_of(values, is_minus_infinity);
  const int exponent = scientific_ ? exponent_digits_ + 2 : 0;
  before_point_ = std::max(before_point_, kWord + has_sign - (after_point_ + exponent + 1));
}

std::string FloatColumn::special_text(double value) const {
  const std::string word =
      std::isnan(value) ? (sign_ == SignStyle::always ? "+nan" : "nan") : sign_text(value, sign_) + "inf";
  const int exponent = scientific_ ? exponent_digits_ + 2 : 0;
  return padded_left(word, before_point_ + 1 + after_point_ + exponent);
}

std::string FloatColumn::text(double value) const {
  if (!std::isfinite(value)) return special_text(value);
  const auto digits = static_cast<size_t>(after_point_);
  Parts parts = scientific_ ? scientific(value, width_, {.least = after_point_, .most = after_point_})
                            : positional(value, width_, kPrecision);
  parts.fraction.resize(digits, scientific_ ? '0' : ' ');
  const std::string whole = padded_left(sign_text(value, sign_) + parts.whole, before_point_);
  return whole + '.' + parts.fraction + (scientific_ ? exponent_text(parts.exponent, exponent_digits_) : "");
}

namespace {

// Without a point where nothing follows it.
std::string shortest_text(double value, FloatWidth width, SignStyle sign) {
  const double magnitude = std::fabs(value);
  const int digits = whole_digits(width) == 15 ? 16 : whole_digits(width);
  const bool is_positional = value == 0 || (magnitude < std::pow(10.0, digits) && magnitude >= kSmallestPositional);
  const Parts parts = is_positional ? positional(value, width, DigitLimits::kNone) : scientific(value, width, {});
  const std::string point = parts.fraction.empty() ? "" : ".";
  return sign_text(value, sign) + parts.whole + point + parts.fraction +
         (is_positional ? "" : exponent_text(parts.exponent, 2));
}

std::string word(double value, SignStyle sign) {
  if (std::isnan(value)) return sign == SignStyle::always ? "+nan" : "nan";
  return sign_text(value, sign) + "inf";
}

std::string part_text(double value, FloatWidth width, SignStyle sign) {
  return std::isfinite(value) ? shortest_text(value, width, sign) : word(value, sign);
}

}  // namespace

std::string float_scalar_text(double value, FloatWidth width) {
  const std::string text = part_text(value, width, SignStyle::only_minus);
  const bool looks_like_integer = std::isfinite(value) && text.find_first_of(".e") == std::string::npos;
  return looks_like_integer ? text + ".0" : text;
}

std::string complex_scalar_text(double real, double imaginary, FloatWidth width) {
  const bool is_imaginary = real == 0 && !std::signbit(real);
  if (is_imaginary) return part_text(imaginary, width, SignStyle::only_minus) + "j";
  return fmt::format("({}{}j)", part_text(real, width, SignStyle::only_minus),
                     part_text(imaginary, width, SignStyle::always));
}

}  // namespace assay::tensor
