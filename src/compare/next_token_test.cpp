#include "compare/next_token.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::compare {
namespace {

tensor::Tensor floats(tensor::Shape shape, const std::vector<float>& elements) {
  return tensor::make_tensor<float>(tensor::DType::float32, std::move(shape), elements);
}

TEST(NextToken, IsTheGreatestOfTheLastPlaceInEachRow) {
  const TokenScores scores = next_scores(floats({2, 2, 3}, {9, 0, 0, 1, 2, 0, 0, 9, 0, 5, 5, 4}), 2, std::nullopt);
  EXPECT_EQ(scores.tokens, (std::vector<int64_t>{1, 0}));  // the first of two that are equal
  EXPECT_EQ(scores.rows[0], (std::vector<double>{1, 2, 0}));
}

TEST(NextToken, IsThatOfAPlaceWhereIdsArePadded) {
  EXPECT_EQ(next_scores(floats({1, 2, 3}, {9, 0, 0, 1, 2, 0}), 1, 0).tokens, (std::vector<int64_t>{0}));
}

TEST(NextToken, IsNoneWhereThereAreNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(next_scores(floats({1, 3}, {0, nan, 1}), 1, std::nullopt).tokens, (std::vector<int64_t>{-1}));
}

TEST(NextToken, MayBeGivenAsAnInteger) {
  const auto ids = tensor::make_tensor<int64_t>(tensor::DType::int64, {2, 2}, std::vector<int64_t>{4, 7, 5, 9});
  const TokenScores scores = next_scores(ids, 2, std::nullopt);
  EXPECT_EQ(scores.tokens, (std::vector<int64_t>{7, 9}));
  EXPECT_TRUE(scores.rows.empty());
}

TEST(NextToken, RefusesShapesOfOtherRows) {
  EXPECT_THROW(next_scores(floats({3, 4}, std::vector<float>(12)), 5, std::nullopt), Error);
}

TEST(NextTokenDivergence, IsThatOfTheDistributions) {
  // p = (1/4, 3/4), q = (1/2, 1/2): 1/4 log(1/2) + 3/4 log(3/2)
  const double expected = 0.25 * std::log(0.5) + 0.75 * std::log(1.5);
  EXPECT_NEAR(next_token_divergence(std::vector<double>{0, std::log(3.0)}, std::vector<double>{5, 5}), expected, 1e-12);
  EXPECT_EQ(next_token_divergence(std::vector<double>{1000, -1000}, std::vector<double>{1000, -1000}), 0);
}

}  // namespace
}  // namespace assay::compare
