#include "convert/quantize/fitted_codes.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace assay::convert {
namespace {

constexpr uint64_t kLength = 64;
constexpr uint64_t kColumns = 16;
constexpr uint64_t kRows = 200;

tensor::Tensor matrix() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(kLength * kColumns);
  for (float& number : numbers) number = normal(random);
  return tensor::make_tensor<float>(tensor::DType::float32, {kLength, kColumns}, numbers);
}

// Of inputs that differ in size and have something in common, all times 2^exponent.
calibrate::Moments moments(int exponent) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  calibrate::Moments made = {.rows = kRows, .size = kLength, .products = {}, .sums = std::vector<double>(kLength)};
  made.products.resize(kLength * kLength);
  for (uint64_t row = 0; row < kRows; ++row) {
    std::vector<double> inputs(kLength);
    const double common = normal(random);
    for (uint64_t i = 0; i < kLength; ++i)
      inputs[i] = std::ldexp((i % 8 == 0 ? 20 : 1) * (normal(random) + common / 4 + 0.1), exponent);
    for (uint64_t i = 0; i < kLength; ++i) {
      made.sums[i] += inputs[i];
      for (uint64_t j = 0; j < kLength; ++j) made.products[i * kLength + j] += inputs[i] * inputs[j];
    }
  }
  return made;
}

TEST(FittedCodes, AreTheSameForInputsOfAnySize) {
  const tensor::Tensor floats = matrix();
  const Blocks blocks = {.axis = 0, .length = 32, .bits = 4};
  const FittedCodes scaled = scaled_codes(floats, blocks, 0, moments(0));
  const FittedCodes compensated = compensated_codes(floats, blocks, 0, moments(0));
  EXPECT_GT(scaled.factor.count(), 0U);
  for (const int exponent : {-100, 100}) {
    EXPECT_EQ(scaled_codes(floats, blocks, 0, moments(exponent)).codes.codes, scaled.codes.codes);
    EXPECT_EQ(compensated_codes(floats, blocks, 0, moments(exponent)).codes.codes, compensated.codes.codes);
  }
}

TEST(FittedCodes, OfInputsThatAreZeroAreThoseOfTheNumbersAlone) {
  const tensor::Tensor floats = matrix();
  const Blocks blocks = {.axis = 0, .length = 32, .bits = 4};
  calibrate::Moments zeros = moments(0);
  std::ranges::fill(zeros.products, 0.0);
  std::ranges::fill(zeros.sums, 0.0);
  for (const FittedCodes& made : {scaled_codes(floats, blocks, 0, zeros), compensated_codes(floats, blocks, 0, zeros)})
    EXPECT_GT(made.codes.error.snr_db, 15);
}

}  // namespace
}  // namespace assay::convert
