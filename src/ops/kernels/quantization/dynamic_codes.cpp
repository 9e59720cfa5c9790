#include "ops/kernels/quantization/dynamic_codes.h"

#include <algorithm>

#include "ops/kernels/quantization/rounding.h"

namespace assay::ops {
namespace {

constexpr double kHighest = 255;

double saturated(double x) { return x > 0 ? std::min(x, kHighest) : 0; }

}  // namespace

DynamicCodes to_dynamic_codes(std::vector<double>& elements, bool is_wide) {
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
  for (double& x : elements) x = saturated(round_even(divide(x, found.scale)) + found.zero);
  return found;
}

}  // namespace assay::ops
