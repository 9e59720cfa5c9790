#include "convert/quantize/quantizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::convert {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr double kMostInt8 = 127;
constexpr double kMostFloat8 = 448;

}  // namespace

float usable_scale(double scale) {
  if (!(scale > 0)) return 1;
  return std::max(static_cast<float>(scale), std::numeric_limits<float>::min());
}

Quantizer quantizer_of(const calibrate::Range& range, QdqCodes codes) {
  const double low = std::min(range.low, 0.0);
  const double high = std::max(range.high, 0.0);
  const double largest = std::max(-low, high);
  if (codes == QdqCodes::float8) return {DType::float8e4m3fn, usable_scale(largest / kMostFloat8), 0};
  if (codes == QdqCodes::int8) return {DType::int8, usable_scale(largest / kMostInt8), 0};
  constexpr double kMostUint8 = 255;
  const float scale = usable_scale((high - low) / kMostUint8);
  const double zero_point = std::nearbyint(std::clamp(-low / scale, 0.0, kMostUint8));
  return {DType::uint8, scale, static_cast<int32_t>(zero_point)};
}

bool is_finite(const Tensor& floats) {
  const tensor::Bytes bytes = floats.bytes();
  for (uint64_t i = 0; i < floats.count(); ++i) {
    if (!std::isfinite(number_at(bytes, i))) return false;
  }
  return true;
}

std::optional<Tensor> quantize_bias(const Tensor& floats, const std::vector<float>& scales) {
  constexpr double kMost = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> codes(floats.count());
  for (uint64_t i = 0; i < codes.size(); ++i) {
    const double code = std::nearbyint(double{number_at(floats.bytes(), i)} / scales[scales.size() == 1 ? 0 : i]);
    if (!(std::fabs(code) <= kMost)) return std::nullopt;
    codes[i] = static_cast<int32_t>(code);
  }
  return tensor::make_tensor<int32_t>(DType::int32, floats.shape(), codes);
}

}  // namespace assay::convert
