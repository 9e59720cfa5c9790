#include "convert/quantize/quantizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"

namespace assay::convert {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr uint64_t kGrain = uint64_t{1} << 16;  // elements
constexpr double kMostInt8 = 127;

// A tensor as runs of numbers of one channel, one after another.
struct Runs {
  uint64_t channels = 1;
  uint64_t length = 0;
  uint64_t count = 0;
};

Runs runs_of(const Tensor& floats, std::optional<uint32_t> axis) {
  if (!axis) return {1, floats.count(), floats.count() == 0 ? uint64_t{0} : uint64_t{1}};
  const uint64_t channels = static_cast<uint64_t>(floats.shape()[*axis]);
  uint64_t length = 1;
  for (size_t i = *axis + 1; i < floats.shape().size(); ++i) length *= static_cast<uint64_t>(floats.shape()[i]);
  return {channels, length, length == 0 ? 0 : floats.count() / length};
}

int8_t code_of(float number, float scale) {
  const float scaled = std::nearbyint(number / scale);
  return static_cast<int8_t>(std::clamp(scaled, static_cast<float>(-kMostInt8), static_cast<float>(kMostInt8)));
}

}  // namespace

float usable_scale(double scale) {
  if (!(scale > 0)) return 1;
  return std::max(static_cast<float>(scale), std::numeric_limits<float>::min());
}

Quantizer quantizer_of(const calibrate::Range& range, bool asymmetric) {
  const double low = std::min(range.low, 0.0);
  const double high = std::max(range.high, 0.0);
  if (!asymmetric) return {DType::int8, usable_scale(std::max(-low, high) / kMostInt8), 0};
  constexpr double kMostUint8 = 255;
  const float scale = usable_scale((high - low) / kMostUint8);
  const double zero_point = std::nearbyint(std::clamp(-low / scale, 0.0, kMostUint8));
  return {DType::uint8, scale, static_cast<int32_t>(zero_point)};
}

std::optional<std::vector<float>> channel_magnitudes(const Tensor& floats, std::optional<uint32_t> axis) {
  const Runs runs = runs_of(floats, axis);
  const tensor::Bytes bytes = floats.bytes();
  std::vector<float> magnitudes(runs.channels);
  for (uint64_t run = 0; run < runs.count; ++run) {
    float& known = magnitudes[run % runs.channels];
    for (uint64_t i = run * runs.length; i < (run + 1) * runs.length; ++i) {
      const float magnitude = std::fabs(number_at(bytes, i));
      if (!(magnitude <= std::numeric_limits<float>::max())) return std::nullopt;
      known = std::max(known, magnitude);
    }
  }
  return magnitudes;
}

std::vector<float> int8_scales(const std::vector<float>& magnitudes) {
  const float largest = magnitudes.empty() ? 0 : *std::ranges::max_element(magnitudes);
  std::vector<float> scales;
  for (const float magnitude : magnitudes) {
    // Any scale holds zeros; that of the others also suits what is added to them.
    scales.push_back(usable_scale((magnitude > 0 ? magnitude : largest) / kMostInt8));
  }
  return scales;
}

QuantizedWeight quantize_weight(const Tensor& floats, std::optional<uint32_t> axis, const std::vector<float>& scales) {
  const Runs runs = runs_of(floats, axis);
  const tensor::Bytes bytes = floats.bytes();
  std::vector<int8_t> codes(floats.count());
  parallel_for(codes.size(), kGrain, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      codes[i] = code_of(number_at(bytes, i), scales[i / runs.length % runs.channels]);
    }
  });
  tensor::Shape shape;
  if (axis) shape.push_back(static_cast<int64_t>(scales.size()));
  return {tensor::make_tensor<int8_t>(DType::int8, floats.shape(), codes),
          tensor::make_tensor<float>(DType::float32, std::move(shape), scales)};
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
