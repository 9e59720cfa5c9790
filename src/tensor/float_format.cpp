#include "tensor/float_format.h"

#include <algorithm>
#include <cmath>

namespace assay::tensor {
namespace {

constexpr int kE8m0Bias = 127;
constexpr uint64_t kE8m0Nan = 255;

}  // namespace

double decode_e8m0(uint64_t code) {
  if (code == kE8m0Nan) return std::numeric_limits<double>::quiet_NaN();
  return power_of_two(static_cast<int>(code) - kE8m0Bias);
}

uint64_t encode_e8m0(double value) {
  if (!std::isfinite(value) || value < 0) return kE8m0Nan;
  // Half of the mantissa's range is added, so that 1.5 and more carries into the exponent.
  const uint64_t bits = std::bit_cast<uint64_t>(std::fabs(value));
  const auto exponent = static_cast<int64_t>((bits + (uint64_t{1} << 51)) >> kDoubleMantissaBits) - kDoubleBias;
  return static_cast<uint64_t>(std::clamp<int64_t>(exponent + kE8m0Bias, 0, kE8m0Nan - 1));
}

}  // namespace assay::tensor
