#include "ops/dim.h"

#include <gtest/gtest.h>

namespace assay::ops {
namespace {

class DimTest : public testing::Test {
 protected:
  DimSpace space_;
  Dim b_ = space_.symbol("b");
  Dim s_ = space_.symbol("s");
};

TEST_F(DimTest, AddsAndScales) {
  EXPECT_EQ((b_ + b_ + 1).text(), "2*b + 1");
  EXPECT_EQ((b_ * 3 - b_).text(), "2*b");
  EXPECT_TRUE((b_ - b_).is(0));
  EXPECT_TRUE((b_ + s_).equals(s_ + b_));
}

TEST_F(DimTest, OverflowIsUnknown) {
  EXPECT_TRUE((Dim(INT64_MAX) + 1).is_unknown());
  EXPECT_TRUE((Dim(INT64_MIN) * -1).is_unknown());
  EXPECT_TRUE((b_ * INT64_MAX * 4).is_unknown());
  EXPECT_TRUE((Dim() + 1).is_unknown());
  EXPECT_FALSE(Dim().equals(Dim()));
}

TEST_F(DimTest, ProductsDoNotDependOnTheirOrder) {
  EXPECT_TRUE((b_ * s_).equals(s_ * b_));
  EXPECT_TRUE((b_ * s_ * 2).equals(2 * s_ * b_));
  EXPECT_TRUE((b_ * s_ * b_).equals(b_ * b_ * s_));
  EXPECT_TRUE((b_ * 0).is(0));
}

TEST_F(DimTest, QuotientCancels) {
  EXPECT_TRUE(quotient(Dims{b_, s_, 768}, Dims{b_, 768}).equals(s_));
  EXPECT_TRUE(quotient(Dims{b_ * s_, 12, 64}, Dims{12}).equals(b_ * s_ * 64));
  EXPECT_TRUE(quotient(Dims{b_ + 1, 4}, Dims{4}).equals(b_ + 1));
  EXPECT_TRUE(quotient(Dims{b_, 3}, Dims{2}).is_unknown());
  EXPECT_TRUE(quotient(Dims{b_}, Dims{s_}).is_unknown());
  EXPECT_TRUE(quotient(Dims{7, 4}, Dims{14}).is(2));
  EXPECT_TRUE(quotient(Dims{0}, Dims{0}).is_unknown());
}

TEST_F(DimTest, FloorDivisionTakesOutWhatItCan) {
  EXPECT_TRUE(floor_div(Dim(-7), 2).is(-4));
  EXPECT_TRUE(floor_div(b_ * 4 + 2, 2).equals(b_ * 2 + 1));
  EXPECT_EQ(floor_div(b_, 2).text(), "floor(b/2)");
  EXPECT_TRUE(floor_div(b_ * 2 + 3, 2).equals(b_ + 1));
  EXPECT_TRUE(floor_div(b_ + 4, 2).equals(floor_div(b_, 2) + 2));
  EXPECT_TRUE(ceil_div(b_ - 1, 2).equals(floor_div(b_, 2)));
}

// With numbers for the symbol, the formula must be the quotient of the numbers.
TEST_F(DimTest, FloorDivisionAgreesWithNumbers) {
  for (int64_t offset = -7; offset <= 7; ++offset) {
    for (int64_t divisor = 1; divisor <= 4; ++divisor) {
      const Dim formula = floor_div(b_ * divisor * 3 + offset, divisor);
      const int64_t quotient = *floor_div(Dim(offset), divisor).number();
      EXPECT_LE(quotient * divisor, offset);
      EXPECT_GT((quotient + 1) * divisor, offset);
      EXPECT_TRUE(formula.equals(b_ * 3 + quotient));
    }
  }
}

TEST_F(DimTest, ExtremesAreDecidedWhereTheyCanBe) {
  EXPECT_TRUE(min(b_, b_ + 1).equals(b_));
  EXPECT_TRUE(max(b_, 0).equals(b_));
  EXPECT_TRUE(min(Dim(3), 5).is(3));
  EXPECT_EQ(max(b_ - 1, 0).text(), "max(0, b - 1)");
  EXPECT_TRUE(max(b_ - 1, 0).equals(max(0, b_ - 1)));
}

TEST_F(DimTest, FreshSymbolsAreNew) {
  const Dim first = space_.fresh();
  EXPECT_FALSE(first.equals(space_.fresh()));
  EXPECT_TRUE(space_.has_fresh(first * 2 + b_));
  EXPECT_TRUE(space_.has_fresh(floor_div(first, 2)));
  EXPECT_FALSE(space_.has_fresh(b_ + 1));
}

}  // namespace
}  // namespace assay::ops
