#include "ops/kernels/quantization/requantize.h"

#include <algorithm>
#include <cmath>

namespace assay::ops {
namespace {

double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::float8e4m3fn:
      return 448;
    case DType::float8e4m3fnuz:
      return 240;
    default:
      return 57344;  // both of e5m2
  }
}

}  // namespace

Quantizer::Quantizer(DType dtype) : is_floating_(tensor::is_floating(dtype)) {
  const auto bits = static_cast<int>(tensor::bit_width(dtype));
  const bool is_signed = tensor::kind(dtype) == tensor::DTypeKind::signed_integer;
  highest_ = is_floating_ ? largest_finite(dtype) : std::ldexp(1.0, bits - (is_signed ? 1 : 0)) - 1;
  lowest_ = is_floating_ ? -highest_ : is_signed ? -highest_ - 1 : 0;
}

double Quantizer::operator()(double value, double zero_point) const {
  if (is_floating_) return std::isnan(value) ? value : std::clamp(value + zero_point, lowest_, highest_);
  if (std::isnan(value)) return std::clamp(zero_point, lowest_, highest_);
  return std::clamp(std::nearbyint(value) + zero_point, lowest_, highest_);
}

}  // namespace assay::ops
