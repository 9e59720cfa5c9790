#include "debug/value_range.h"

#include <cmath>

#include <gtest/gtest.h>

namespace assay::debug {
namespace {

TEST(ValueRange, Float16EndsAt65520AndAt2ToTheMinus25) {
  // 65519 still rounds to 65504; 2^-25 is a tie, and goes to 0; 2^-15 is denormal.
  const std::vector<double> numbers = {65519, 65520, -1e6, 0x1p-25, 0x1.8p-25, 0x1p-15, 1, 0};
  const results::ValueRange range = measure_range(numbers);
  EXPECT_EQ(range.count, 8U);
  EXPECT_EQ(range.greatest, 1e6);
  EXPECT_EQ(range.least, 0x1p-25);
  EXPECT_DOUBLE_EQ(range.float16.overflow, 2.0 / 7);
  EXPECT_DOUBLE_EQ(range.float16.lost, 1.0 / 7);
  EXPECT_DOUBLE_EQ(range.float16.denormal, 2.0 / 7);
  EXPECT_EQ(range.bfloat16.overflow, 0);
  EXPECT_EQ(range.bfloat16.lost, 0);
}

TEST(ValueRange, Int8LosesWhatIsBelowHalfAStep) {
  const std::vector<double> numbers = {127, 1, 0.51, 0.49, -0.1};
  EXPECT_DOUBLE_EQ(measure_range(numbers).int8.lost, 2.0 / 5);
}

TEST(ValueRange, NumbersThatAreNotFiniteDoNotCount) {
  const std::vector<double> numbers = {NAN, INFINITY, 2};
  const results::ValueRange range = measure_range(numbers);
  EXPECT_EQ(range.greatest, 2);
  EXPECT_EQ(range.float16.overflow, 0);
  EXPECT_EQ(measure_range({}).greatest, 0);
}

}  // namespace
}  // namespace assay::debug
