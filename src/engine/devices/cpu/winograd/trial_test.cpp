#include "engine/devices/cpu/winograd/trial.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "ops/eval.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kChannels = 64;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

tensor::Tensor drawn(tensor::DType dtype, double special = 0) {
  std::mt19937 random(1);
  std::normal_distribution<double> number;
  std::vector<double> weights(9 * kChannels * 16);
  for (double& weight : weights) weight = number(random);
  if (special != 0) weights[100] = special;
  return ops::make_rounded(dtype, {16, kChannels, 3, 3}, weights);
}

TEST(WinogradTrial, EvenWeightsStayFarWithinWhatIsAllowed) {
  for (const WinogradForm& form : winograd_forms()) {
    const WinogradErrors errors = winograd_errors(form, drawn(tensor::DType::float32));
    EXPECT_GT(errors.of_allowed, 0.01) << form.index;
    EXPECT_LT(errors.of_allowed, form.out == 4 ? 0.5 : 0.2) << form.index;
    EXPECT_LT(errors.of_rms, 5e-6) << form.index;
  }
}

TEST(WinogradTrial, OfBfloat16OnlyTheSmallFormsAreExactEnough) {
  if (winograd_half_loops() == nullptr) GTEST_SKIP() << "no products of bfloat16 on this processor";
  for (const WinogradForm& form : winograd_forms()) {
    const double error = winograd_errors(form, drawn(tensor::DType::bfloat16)).of_rms;
    EXPECT_GT(error, 0x1p-8) << form.index;
    EXPECT_EQ(error < 5 * 0x1p-8, form.out == 2) << form.index;
    EXPECT_EQ(winograd_errors(form, drawn(tensor::DType::bfloat16, kInfinity)).of_rms, kInfinity) << form.index;
  }
}

TEST(WinogradTrial, AnInfiniteWeightHasNoErrorThatIsAllowed) {
  for (const WinogradForm& form : winograd_forms())
    EXPECT_EQ(winograd_errors(form, drawn(tensor::DType::float32, kInfinity)).of_allowed, kInfinity) << form.index;
  EXPECT_TRUE(std::isnan(kurtosis(drawn(tensor::DType::float32, kInfinity))));
}

TEST(WinogradTrial, WeightsThatAreAllZeroHaveNoErrors) {
  const tensor::Tensor zeros = ops::make_rounded(tensor::DType::float32, {16, kChannels, 3, 3},
                                                 std::vector<double>(static_cast<size_t>(9 * kChannels * 16)));
  EXPECT_EQ(winograd_errors(winograd_forms()[0], zeros).of_allowed, 0);
  EXPECT_EQ(kurtosis(zeros), 0);
}

// By hand: of n weights, one is a and all others are 1: n * (a^4 + n - 1) / (a^2 + n - 1)^2.
TEST(WinogradTrial, KurtosisGrowsWithFewLargeWeights) {
  std::vector<double> weights(144, 1);
  EXPECT_DOUBLE_EQ(kurtosis(ops::make_rounded(tensor::DType::float32, {1, 16, 3, 3}, weights)), 1);
  weights[7] = -10;
  EXPECT_DOUBLE_EQ(kurtosis(ops::make_rounded(tensor::DType::float32, {1, 16, 3, 3}, weights)), 144.0 * 10143 / 59049);
}

}  // namespace
}  // namespace assay::engine::cpu
