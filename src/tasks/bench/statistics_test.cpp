#include "tasks/bench/statistics.h"

#include <numeric>

#include <gtest/gtest.h>

namespace assay::tasks {
namespace {

// Expected values of this file were computed by NumPy, from blocks of two and Student's 2.262 for 9 degrees of freedom.
const std::vector<double> kSamples = {10, 11, 12, 10, 13, 11, 10, 12, 11, 10, 14, 10, 11, 12, 10, 40, 11, 10, 12, 11};
const std::vector<double> kRival = {16, 17.5, 20,   15, 21.5, 18.5, 15,   19, 19.5, 15,
                                    22, 17,   17.5, 19, 17,   60,   18.5, 17, 18,   17.5};

TEST(BenchStatistics, DescribesTheSamples) {
  const results::Distribution found = distribution(kSamples, std::vector<double>{0, 50, 90, 95, 100});
  EXPECT_EQ(found.count, 20);
  EXPECT_EQ(found.min, 10);
  EXPECT_EQ(found.max, 40);
  EXPECT_DOUBLE_EQ(found.mean, 12.55);
  EXPECT_EQ(found.median, 11);
  EXPECT_NEAR(found.variation, 0.5092593541217285, 1e-12);
  EXPECT_EQ(found.outliers, 1);
  ASSERT_TRUE(found.mean_interval && found.median_interval);
  EXPECT_NEAR(found.mean_interval->low, 9.393764645974576, 1e-9);
  EXPECT_NEAR(found.mean_interval->high, 15.706235354025425, 1e-9);
  // Medians of the ten blocks: 10.5 (3), 11 (2), 11.5 (2), 12 (2), 25. Of ten draws, 0 or 1 are below the median with
  // a chance of 11/1024, up to 2 with 56/1024: one is left out at either end.
  EXPECT_EQ(found.median_interval->low, 10.5);
  EXPECT_EQ(found.median_interval->high, 12);
  EXPECT_FALSE(found.has_drift);
}

TEST(BenchStatistics, PercentilesAreElementsByNearestRank) {
  std::vector<double> numbers(10);
  std::iota(numbers.begin(), numbers.end(), 1.0);  // 1 to 10
  EXPECT_EQ(percentile(numbers, 100), 10);
  EXPECT_EQ(percentile(numbers, 95), 10);  // 9 - floor(0.5)
  EXPECT_EQ(percentile(numbers, 75), 8);   // 9 - floor(2.5)
  EXPECT_EQ(percentile(numbers, 50), 5);
  EXPECT_EQ(percentile(numbers, 1), 1);
  EXPECT_EQ(percentile(numbers, 0), 1);
  EXPECT_EQ(percentile(std::vector<double>{7}, 50), 7);
}

TEST(BenchStatistics, TheMedianOfAnEvenNumberIsBetween) {
  EXPECT_EQ(median(std::vector<double>{1, 2, 4, 8}), 3);
  EXPECT_EQ(median(std::vector<double>{1, 2, 4}), 2);
}

TEST(BenchStatistics, FewSamplesHaveNoInterval) {
  const results::Distribution found = distribution(std::vector<double>{3, 1, 2, 3, 1, 2, 4}, {});
  EXPECT_FALSE(found.mean_interval);
  EXPECT_FALSE(found.median_interval);
  EXPECT_TRUE(distribution(std::vector<double>{3, 1, 2, 3, 1, 2, 4, 4}, {}).mean_interval);
}

// Some runs that take a hundred times as long pull no end of the interval below zero, nor the other one up.
TEST(BenchStatistics, IntervalsOfMediansAreWithinTheSamples) {
  std::vector<double> numbers;
  for (int i = 0; i < 40; ++i) numbers.push_back(i % 11 == 3 ? 100 + i : 1 + i % 3 * 0.1);
  const results::Distribution found = distribution(numbers, {});
  ASSERT_TRUE(found.median_interval && found.mean_interval);
  EXPECT_GE(found.median_interval->low, found.min);
  EXPECT_LE(found.median_interval->low, found.median);
  EXPECT_GE(found.median_interval->high, found.median);
  EXPECT_LT(found.median_interval->high, 60);
  EXPECT_GE(found.mean_interval->low, 0);
}

// Five medians of blocks are all on one side of the true one with a chance of 6%.
TEST(BenchStatistics, MediansNeedSixBlocks) {
  EXPECT_FALSE(distribution(std::vector<double>(11, 1), {}).median_interval);
  EXPECT_TRUE(distribution(std::vector<double>(12, 1), {}).median_interval);
}

TEST(BenchStatistics, SeesDrift) {
  std::vector<double> numbers;
  for (int i = 0; i < 16; ++i) numbers.push_back((i < 8 ? 10 : 12) + (i % 2) * 0.1);
  const results::Distribution found = distribution(numbers, {});
  EXPECT_TRUE(found.has_drift);
  EXPECT_NEAR(found.drift, 0.1990049751243781, 1e-12);
}

TEST(BenchStatistics, RatiosHaveIntervalsByBlocks) {
  const results::BenchRatio found = ratio(kSamples, kRival);
  EXPECT_NEAR(found.of_minima, 1.5, 1e-12);
  EXPECT_NEAR(found.of_medians, 1.6136363636363635, 1e-12);
  ASSERT_TRUE(found.minima_interval && found.medians_interval);
  EXPECT_NEAR(found.minima_interval->low, 1.443422105500626, 1e-9);
  EXPECT_NEAR(found.minima_interval->high, 1.558795581296454, 1e-9);
  EXPECT_NEAR(found.medians_interval->low, 1.5762177299267726, 1e-9);
  EXPECT_NEAR(found.medians_interval->high, 1.6519432973073807, 1e-9);
}

}  // namespace
}  // namespace assay::tasks
