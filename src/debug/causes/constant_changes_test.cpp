#include "debug/causes/constant_changes.h"

#include <gtest/gtest.h>

namespace assay::debug {
namespace {

Datum floats(tensor::Shape shape, const std::vector<float>& numbers) {
  return tensor::make_tensor(tensor::DType::float32, std::move(shape), std::span<const float>(numbers));
}

std::string change(const tensor::Shape& shape, const std::vector<float>& a, const std::vector<float>& b) {
  return constant_change(floats(shape, a), floats(shape, b)).text;
}

TEST(ConstantChanges, NumbersThatAreTheSameAreNone) { EXPECT_EQ(change({2}, {1, 2}, {1, 2}), ""); }

TEST(ConstantChanges, OneNumberBecomesAnother) {
  EXPECT_EQ(change({}, {1e-5F}, {0.05F}), "is 1e-05, in the other model 0.05");
  EXPECT_EQ(change({2, 2}, {0, -9, -9, 0}, {0, -1, -1, 0}), "has 2 times -9, in the other model -1");
  EXPECT_EQ(change({2, 2}, {1, 2, 3, 4}, {1, 2, 7, 4}), "is 3 at [1,0], in the other model 7");
}

TEST(ConstantChanges, AllOrOneIndexIsScaledOrShifted) {
  EXPECT_EQ(change({3}, {1, 2, 4}, {2, 4, 8}), "is 2 times as large in the other model");
  EXPECT_EQ(change({3}, {1, 2, 4}, {2, 3, 5}), "is 1 more in the other model");
  EXPECT_EQ(change({2, 2}, {1, 2, 3, 4}, {1, 200, 3, 400}),
            "is 100 times as large at index 1 of axis 1 in the other model");
}

TEST(ConstantChanges, ASquareIsTransposed) {
  EXPECT_EQ(change({2, 2}, {1, 2, 3, 4}, {1, 3, 2, 4}), "is transposed in the other model");
}

TEST(ConstantChanges, NumbersBeyondABoundAreAtIt) {
  EXPECT_EQ(change({6}, {-5, -1, 0.5F, 3, 1, -7}, {-2, -1, 0.5F, 2, 1, -2}),
            "is clipped at +-2 in the other model: 3 of 6 elements differ");
}

TEST(ConstantChanges, OthersAreCounted) {
  EXPECT_EQ(change({4}, {1, 2, 3, 4}, {1, 2.5F, 3.25F, 4}),
            "differs in the other model in 2 of 4 elements, by up to 0.5");
}

TEST(ConstantChanges, RoundingToATypeIsNoneUnlessANumberIsLost) {
  const std::vector<uint16_t> tenth = {0x2E66}, zero = {0};
  const Datum near = tensor::make_tensor(tensor::DType::float16, {}, std::span<const uint16_t>(tenth));
  const Datum nothing = tensor::make_tensor(tensor::DType::float16, {}, std::span<const uint16_t>(zero));
  EXPECT_EQ(constant_change(floats({}, {0.1F}), near).text, "");
  const ConstantChange lost = constant_change(floats({}, {1e-12F}), nothing);
  EXPECT_EQ(lost.text, "is 1e-12, of which float16 makes 0");
  EXPECT_TRUE(lost.is_of_type);
}

}  // namespace
}  // namespace assay::debug
