#include "debug/accuracy/quantized.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "debug/accuracy/layer_oracle.h"

namespace assay::debug {
namespace {

constexpr double kRoundoff = 0x1p-24;

template <typename T>
Datum datum(tensor::DType type, tensor::Shape shape, const std::vector<T>& numbers) {
  return Datum(tensor::make_tensor(type, std::move(shape), std::span<const T>(numbers)));
}

// 256 numbers between -10 and 10, and their nearest codes for a step of 0.125.
std::vector<float> ramp() {
  std::vector<float> numbers;
  for (int i = 0; i < 256; ++i) numbers.push_back(static_cast<float>(i - 128) * 0.0781F);
  return numbers;
}

Quantized coded(const std::vector<float>& numbers, float step, int shift, float scale) {
  std::vector<int8_t> codes;
  for (const float number : numbers) {
    const float code = std::nearbyint(number / step) + static_cast<float>(shift);
    codes.push_back(static_cast<int8_t>(std::clamp(code, -128.0F, 127.0F)));
  }
  return {.codes = datum(tensor::DType::int8, {static_cast<int64_t>(codes.size())}, codes),
          .scale = datum<float>(tensor::DType::float32, {}, {scale})};
}

Datum of(const std::vector<float>& numbers) {
  return datum(tensor::DType::float32, {static_cast<int64_t>(numbers.size())}, numbers);
}

TEST(Quantized, nearest_codes_are_sound) {
  const Quantization made = quantization_of(coded(ramp(), 0.125F, 0, 0.125F), of(ramp()), kRoundoff);
  EXPECT_EQ(made.fault.text, "");
  EXPECT_LE(made.excess, 0.5);
}

TEST(Quantized, a_wrong_scale_or_zero_point_is_named) {
  const Quantization scaled = quantization_of(coded(ramp(), 0.125F, 0, 0.1375F), of(ramp()), kRoundoff);
  EXPECT_EQ(scaled.fault.text, "its numbers are 1.1 times as large as they should be");
  const Quantization shifted = quantization_of(coded(ramp(), 0.125F, 1, 0.125F), of(ramp()), kRoundoff);
  EXPECT_EQ(shifted.fault.text, "its numbers are 1 step(s) higher than they should be");
}

TEST(Quantized, only_a_range_that_is_much_too_narrow_is_a_fault) {
  const Quantization narrow = quantization_of(coded(ramp(), 0.03125F, 0, 0.03125F), of(ramp()), kRoundoff);
  EXPECT_TRUE(narrow.fault.is_clipped);
  std::vector<float> numbers = ramp();
  numbers[0] = -20.0F;  // one element, which a wider range would make all others pay for
  EXPECT_EQ(quantization_of(coded(numbers, 0.125F, 0, 0.125F), of(numbers), kRoundoff).fault.text, "");
}

TEST(Quantized, codes_that_are_not_shown_follow_from_the_numbers) {
  const Quantized hidden = {.scale = datum<float>(tensor::DType::float32, {}, {0.5F}),
                            .zero_point = datum<uint8_t>(tensor::DType::uint8, {}, {2})};
  const Quantization made = quantization_of(hidden, of({-5, -0.6F, 0.1F, 1.3F}), kRoundoff);
  EXPECT_EQ(numbers_of(made.numbers), (std::vector<double>{-1, -0.5, 0, 1.5}));
}

TEST(Quantized, scales_of_an_axis_and_of_blocks) {
  const std::vector<int8_t> codes = {2, 2, 2, 2, 2, 2, 2, 2};
  Quantized quantized = {.codes = datum(tensor::DType::int8, {2, 4}, codes),
                         .scale = datum<float>(tensor::DType::float32, {2}, {1, 3}),
                         .axis = -2};
  const Datum zeros = datum<float>(tensor::DType::float32, {2, 4}, std::vector<float>(8));
  EXPECT_EQ(numbers_of(quantization_of(quantized, zeros, kRoundoff).numbers),
            (std::vector<double>{2, 2, 2, 2, 6, 6, 6, 6}));
  quantized.scale = datum<float>(tensor::DType::float32, {2, 2}, {1, 3, 5, 7});
  quantized.axis = 1;
  quantized.block = 2;
  EXPECT_EQ(numbers_of(quantization_of(quantized, zeros, kRoundoff).numbers),
            (std::vector<double>{2, 2, 6, 6, 10, 10, 14, 14}));
}

}  // namespace
}  // namespace assay::debug
