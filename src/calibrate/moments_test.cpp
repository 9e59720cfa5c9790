#include "calibrate/moments.h"

#include <gtest/gtest.h>

namespace assay::calibrate {
namespace {

// Two elements with the mean squares 1 and 3, and the means 1 and 0.
Moments moments_of(uint64_t rows) {
  const auto count = static_cast<double>(rows);
  return {.rows = rows, .size = 2, .products = {count, 0, 0, 3 * count}, .sums = {count, 0}};
}

TEST(ElementMeans, AreDrawnTogetherByWhatChanceAloneGives) {
  const ElementMeans few = element_means(moments_of(8));
  EXPECT_EQ(few.squares, (std::vector<double>{2, 2}));
  EXPECT_EQ(few.means, (std::vector<double>{0.625, 0}));  // a spread of 1, of which (0 + 3) / 8 is chance
  const ElementMeans many = element_means(moments_of(80));
  EXPECT_DOUBLE_EQ(many.squares[0], 1.1);
  EXPECT_DOUBLE_EQ(many.squares[1], 2.9);
  EXPECT_DOUBLE_EQ(many.means[0], 1 - 3.0 / 80);
}

TEST(ElementMeans, OfZerosAreZeros) {
  const ElementMeans made = element_means({.rows = 4, .size = 2, .products = {0, 0, 0, 0}, .sums = {0, 0}});
  EXPECT_EQ(made.squares, (std::vector<double>{0, 0}));
  EXPECT_EQ(made.means, (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace assay::calibrate
