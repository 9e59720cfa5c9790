#include "ops/kernels/quantization/dynamic_codes.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ops/kernels/quantization/rounding.h"

namespace assay::ops {
namespace {

constexpr double kHighest = 255;

constexpr double kNear = 0x1p-13;  // of a step: roundings in float32 move a quotient up to 255 so far

double saturated(double x) { return x > 0 ? std::min(x, kHighest) : 0; }

// The quotient, or, near the middle between two whole numbers, one that lies on the drawn side of it.
double drawn(double quotient, uint64_t draw) {
  const double middle = std::floor(quotient) + 0.5;
  if (std::abs(quotient - middle) > kNear) return quotient;
  const bool is_up =
      ((std::bit_cast<uint64_t>(quotient) ^ draw * 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U) >> 63 != 0;
  return middle + (is_up ? kNear : -kNear);
}

}  // namespace

DynamicCodes to_dynamic_codes(std::vector<double>& elements, bool is_wide, uint64_t draw) {
  double low = 0;
  double high = 0;
  for (const double x : elements) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  const auto divide = [&](double a, double b) {
    return is_wide ? a / b : static_cast<double>(static_cast<float>(a / b));
  };
  DynamicCodes found;
  if (low != high) found.scale = divide(high - low, kHighest);
  found.zero = round_even(saturated(divide(-low, found.scale)));
  for (double& x : elements) {
    const double quotient = divide(x, found.scale);
    x = saturated(round_even(draw == 0 ? quotient : drawn(quotient, draw)) + found.zero);
  }
  return found;
}

}  // namespace assay::ops
