#include "compare/measuring/selection.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "compare/statistics.h"

namespace assay::compare {
namespace {

using tensor::DType;
using tensor::Tensor;

Tensor selected_doubles(const std::vector<double>& elements) {
  return tensor::make_tensor<double>(DType::float64, {static_cast<int64_t>(elements.size())}, elements);
}

double sorted_quantile(std::vector<double> elements, double quantile) {
  std::ranges::sort(elements);
  const double place = quantile * (static_cast<double>(elements.size()) - 1);
  const auto below = static_cast<size_t>(place);
  const double low = elements[below];
  const double high = elements[std::min(below + 1, elements.size() - 1)];
  const double share = place - std::floor(place);
  if (share == 0 || low == high) return low;
  return share < 0.5 ? low + (high - low) * share : high - (high - low) * (1 - share);
}

void expect_sorted_quantiles(const std::vector<double>& elements) {
  const results::Percentiles found = *statistics(selected_doubles(elements)).percentiles;
  EXPECT_EQ(found.median, sorted_quantile(elements, 0.5));
  EXPECT_EQ(found.p90, sorted_quantile(elements, 0.9));
  EXPECT_EQ(found.p95, sorted_quantile(elements, 0.95));
  EXPECT_EQ(found.p99, sorted_quantile(elements, 0.99));
}

std::vector<double> normal_doubles(size_t count) {
  std::mt19937_64 engine(count);
  std::normal_distribution<double> normal;
  std::vector<double> elements(count);
  for (double& x : elements) x = normal(engine);
  return elements;
}

TEST(Selection, FewElements) {
  for (const size_t count : {1U, 2U, 3U, 10U, 511U, 512U, 513U, 5000U}) expect_sorted_quantiles(normal_doubles(count));
}

TEST(Selection, ManyElements) { expect_sorted_quantiles(normal_doubles(1500001)); }

// What the sample sees says little about the rest.
TEST(Selection, ManyElementsInOrder) {
  std::vector<double> elements = normal_doubles(1500001);
  std::ranges::sort(elements);
  expect_sorted_quantiles(elements);
}

TEST(Selection, TheSampleMisleads) {
  std::vector<double> elements(2000000, 1e6);
  std::mt19937_64 engine(1);
  const uint64_t stride = (1 + elements.size() / (2 * (1 << 17))) * kTile;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i % stride >= kTile) elements[i] = static_cast<double>(engine() % 1000003) * 0.37 - 1e5;
  }
  expect_sorted_quantiles(elements);
}

TEST(Selection, EqualElements) {
  std::vector<double> elements(1000000, 0.0);
  expect_sorted_quantiles(elements);
  for (size_t i = 0; i < elements.size(); i += 17) elements[i] = static_cast<double>(i);
  expect_sorted_quantiles(elements);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<double>(i % 3) - 1;
  expect_sorted_quantiles(elements);
}

TEST(Selection, Infinities) {
  std::vector<double> elements = normal_doubles(700000);
  for (size_t i = 0; i < elements.size(); i += 40) elements[i] = std::numeric_limits<double>::infinity();
  for (size_t i = 1; i < elements.size(); i += 3) elements[i] = -std::numeric_limits<double>::infinity();
  expect_sorted_quantiles(elements);
}

// What NumPy's median and, where it is a number, percentile give.
TEST(Selection, BesideInfinities) {
  const auto percentiles = [](const std::vector<double>& elements) {
    return *statistics(selected_doubles(elements)).percentiles;
  };
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(percentiles({1, kInf}).median, kInf);
  EXPECT_EQ(percentiles({1, kInf}).p90, kInf);
  EXPECT_EQ(percentiles({-kInf, 1}).median, -kInf);
  EXPECT_EQ(percentiles({-kInf, 1}).p99, -kInf);
  EXPECT_TRUE(std::isnan(percentiles({-kInf, kInf}).median));
  EXPECT_EQ(percentiles({kInf, kInf}).median, kInf);
  EXPECT_EQ(percentiles({1, 2, kInf}).median, 2);
  EXPECT_EQ(percentiles({1, 2, 3, kInf}).median, 2.5);
  EXPECT_EQ(percentiles({1, 2, 3, kInf}).p95, kInf);
  EXPECT_EQ(percentiles({-1.7e308, 1.7e308}).median, 0);
}

TEST(Selection, NanLeavesNothing) {
  std::vector<double> elements = normal_doubles(1000);
  elements[7] = NAN;
  const results::TensorStats stats = statistics(selected_doubles(elements), {.percentiles = true, .histogram = true});
  EXPECT_TRUE(std::isnan(stats.percentiles->median));
  EXPECT_TRUE(std::isnan(stats.mean));
  EXPECT_EQ(stats.nan_count, 1U);
  EXPECT_EQ(stats.least_at, std::vector<int64_t>{7});
  EXPECT_FALSE(stats.histogram);
}

TEST(Histogram, EdgesDecide) {
  std::vector<double> elements;
  for (int i = 0; i <= 1000; ++i) elements.push_back(i * 0.1);
  const results::Histogram histogram =
      *statistics(selected_doubles(elements), {.percentiles = false, .histogram = true}).histogram;
  ASSERT_EQ(histogram.edges.size(), 11U);
  uint64_t counts[10] = {};
  for (const double x : elements) {
    size_t bin = 9;
    while (bin > 0 && x < histogram.edges[bin]) --bin;
    ++counts[bin];
  }
  for (size_t bin = 0; bin < 10; ++bin) EXPECT_EQ(histogram.counts[bin], counts[bin]) << bin;
}

TEST(Histogram, OneValueIsInTheMiddle) {
  const results::Histogram histogram =
      *statistics(selected_doubles({3, 3}), {.percentiles = false, .histogram = true}).histogram;
  EXPECT_EQ(histogram.edges.front(), 2.5);
  EXPECT_EQ(histogram.edges.back(), 3.5);
  EXPECT_EQ(histogram.counts[5], 2U);
}

TEST(Histogram, NoneOfAnInfiniteRange) {
  const StatisticsOptions options = {.percentiles = false, .histogram = true};
  EXPECT_FALSE(statistics(selected_doubles({1, std::numeric_limits<double>::infinity()}), options).histogram);
  EXPECT_FALSE(statistics(selected_doubles({-1.7e308, 1.7e308}), options).histogram);
  EXPECT_FALSE(statistics(selected_doubles({0, 5e-324}), options).histogram);
  EXPECT_FALSE(statistics(selected_doubles({}), options).histogram);
}

}  // namespace
}  // namespace assay::compare
