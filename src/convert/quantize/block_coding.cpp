#include "convert/quantize/block_coding.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "convert/quantize/quantizer.h"
#include "tensor/float_format.h"

namespace assay::convert {
namespace {

using tensor::kFloat4e2m1;
using tensor::kFloat8e4m3fn;

constexpr float kMostFp8 = 448;
constexpr float kMostFp4 = 6;

// Quantiles of the normal distribution, scaled to -1 and 1, with 0 among them.
constexpr std::array<float, 16> kNormalFloat = {
    -1.0F,      -0.6961928F, -0.52507305F, -0.3949175F, -0.28444138F, -0.18477343F, -0.091050036F, 0.0F,
    0.0795803F, 0.1609302F,  0.2461123F,   0.33791524F, 0.44070983F,  0.562617F,    0.72295684F,   1.0F};

constexpr std::array<float, 16> kFloat4 = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -0.0F, -0.5F, -1, -1.5F, -2, -3, -4, -6};

int16_t nearest_normal(float number) {
  int16_t code = 0;
  for (size_t i = 0; i + 1 < kNormalFloat.size(); ++i)
    code = static_cast<int16_t>(code + (number > (kNormalFloat[i] + kNormalFloat[i + 1]) / 2 ? 1 : 0));
  return code;
}

float greatest(WeightType type) {
  if (type == WeightType::fp8) return kMostFp8;
  return type == WeightType::nf4 ? 1 : kMostFp4;
}

// A scale as it can be stored.
float stored_scale(WeightType type, double exact, float of_tensor) {
  if (type == WeightType::mxfp4)
    return static_cast<float>(std::exp2(std::clamp(std::round(std::log2(exact)), -126.0, 126.0)));
  if (type != WeightType::nvfp4) return usable_scale(exact);
  constexpr float kLeastFp8 = 0x1p-9F;
  const double scaled = std::clamp(exact / of_tensor, double{kLeastFp8}, double{kMostFp8});
  return static_cast<float>(tensor::decode<kFloat8e4m3fn>(tensor::encode<kFloat8e4m3fn>(scaled)));
}

double square_error(std::span<const float> numbers, const BlockCoding& coding, const Factors& factors) {
  double sum = 0;
  double mean = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double error = double{coding.value(coding.code(numbers[i]))} - double{numbers[i]};
    sum += error * error * double{factors.variance(i)};
    mean += error * double{factors.mean(i)};
  }
  return sum + mean * mean;
}

}  // namespace

int16_t BlockCoding::code(float number) const {
  if (type == WeightType::integer) return integers.code(number);
  const float scaled = number / (scale * of_tensor);
  if (type == WeightType::nf4) return nearest_normal(scaled);
  if (type == WeightType::fp8)
    return static_cast<int16_t>(tensor::encode<kFloat8e4m3fn>(std::clamp(scaled, -kMostFp8, kMostFp8)));
  return static_cast<int16_t>(tensor::encode<kFloat4e2m1>(std::clamp(scaled, -kMostFp4, kMostFp4)));
}

float BlockCoding::value(int16_t code) const {
  if (type == WeightType::integer) return static_cast<float>(code - integers.zero_point) * integers.scale;
  const float step = scale * of_tensor;
  if (type == WeightType::fp8)
    return static_cast<float>(tensor::decode<kFloat8e4m3fn>(static_cast<uint64_t>(code))) * step;
  return small_table(type)[static_cast<size_t>(code)] * step;
}

BlockCoding best_small_coding(std::span<const float> numbers, WeightType type, float of_tensor,
                              const Factors& factors) {
  constexpr std::array kShares = {1.0, 0.95, 0.9, 0.86, 0.82, 0.78, 0.74, 0.7, 1.05, 1.1, 0.97, 0.93, 0.88, 0.65, 0.6};
  constexpr std::array kPowers = {1.0, 0.5, 2.0};
  float largest = 0;
  for (const float number : numbers) largest = std::max(largest, std::fabs(number));
  BlockCoding best{.type = type, .integers = {}, .scale = stored_scale(type, 1, 1), .of_tensor = of_tensor};
  if (largest == 0) return best;
  double least = HUGE_VAL;
  const auto judge = [&](double share) {
    BlockCoding coding = best;
    coding.scale = stored_scale(type, double{largest} / greatest(type) * share, of_tensor);
    const double error = square_error(numbers, coding, factors);
    if (error < least) {
      least = error;
      best = coding;
    }
  };
  if (type == WeightType::mxfp4)
    std::ranges::for_each(kPowers, judge);
  else
    std::ranges::for_each(kShares, judge);
  return best;
}

float scale_of_tensor(WeightType type, float largest) {
  return type == WeightType::nvfp4 && largest > 0 ? usable_scale(double{largest} / (kMostFp4 * kMostFp8)) : 1;
}

std::span<const float> small_table(WeightType type) { return type == WeightType::nf4 ? kNormalFloat : kFloat4; }

}  // namespace assay::convert
