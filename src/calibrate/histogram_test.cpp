#include "calibrate/histogram.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::calibrate {
namespace {

void add(Histogram& histogram, const std::vector<float>& numbers) {
  float largest = 0;
  for (const float number : numbers) largest = std::max(largest, std::fabs(number));
  histogram.add(std::as_bytes(std::span(numbers)), largest);
}

std::vector<float> drawn(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = normal(random) * std::fabs(normal(random));
  return numbers;
}

// The same by its definition: two lists of shares, bin by bin, for each cut.
double divergence_of_cut(const std::vector<uint64_t>& counts, size_t bins) {
  constexpr size_t kLevels = 128;
  std::vector<double> p(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(bins));
  std::vector<double> q(bins);
  for (size_t level = 0; level < kLevels; ++level) {
    const size_t begin = level * bins / kLevels;
    const size_t end = (level + 1) * bins / kLevels;
    double mass = 0;
    double filled = 0;
    for (size_t i = begin; i < end; ++i) mass += p[i], filled += p[i] > 0;
    for (size_t i = begin; i < end; ++i) q[i] = p[i] > 0 ? mass / filled : 0;
  }
  for (size_t i = bins; i < counts.size(); ++i) p[bins - 1] += static_cast<double>(counts[i]);
  double p_sum = 0, q_sum = 0, divergence = 0;
  for (size_t i = 0; i < bins; ++i) p_sum += p[i], q_sum += q[i];
  for (size_t i = 0; i < bins; ++i) {
    if (p[i] > 0) divergence += p[i] / p_sum * std::log((p[i] / p_sum) / (q[i] / q_sum));
  }
  return divergence;
}

TEST(Histogram, CountsEveryNumberOnceWhateverTheOrderOfSizes) {
  Histogram histogram;
  add(histogram, {0, 0});
  EXPECT_TRUE(histogram.counts().empty());
  add(histogram, {0.5F, -1});
  EXPECT_EQ(histogram.counts()[0], 2U);
  EXPECT_EQ(histogram.counts()[1024], 1U);
  EXPECT_EQ(histogram.counts()[2048], 1U);
  add(histogram, {0, 3});  // one doubling
  EXPECT_DOUBLE_EQ(histogram.width(), 4.0 / 4096);
  EXPECT_EQ(histogram.counts()[0], 3U);
  EXPECT_EQ(histogram.counts()[512], 1U);
  EXPECT_EQ(histogram.counts()[1024], 1U);
  EXPECT_EQ(histogram.counts()[3072], 1U);
  EXPECT_EQ(histogram.used_bins(), 3073U);
}

TEST(Histogram, PartsAddUpToAllWhateverTheirOrder) {
  std::vector<std::vector<float>> parts = {{0, 0, 0}, drawn(1000, 1), {1024, -4, 0}, drawn(10, 2), {0.125F}};
  for (float& number : parts[3]) number *= 1e-6F;
  Histogram whole;
  for (const std::vector<float>& part : parts) add(whole, part);
  for (size_t first = 0; first < parts.size(); ++first) {
    Histogram sum;
    for (size_t i = 0; i < parts.size(); ++i) {
      Histogram one;
      add(one, parts[(first + i) % parts.size()]);
      std::vector<uint64_t> counts = one.counts();
      counts.resize(one.used_bins());
      if (counts.empty()) counts.push_back(one.zeros());
      sum.add(Histogram(one.width(), counts));
    }
    EXPECT_EQ(sum.width(), whole.width());
    EXPECT_EQ(sum.counts(), whole.counts());
  }
}

TEST(Histogram, RefusesWhatNoneHas) {
  EXPECT_THROW(Histogram(0.3, {1}), Error);
  EXPECT_THROW(Histogram(-0.5, {1}), Error);
  EXPECT_THROW(Histogram(NAN, {1}), Error);
  EXPECT_THROW(Histogram(HUGE_VAL, {1}), Error);
  EXPECT_THROW(Histogram(0.5, {}), Error);
  EXPECT_THROW(Histogram(0.5, std::vector<uint64_t>(4097, 1)), Error);
  EXPECT_THROW(Histogram(0, {1, 2}), Error);
}

TEST(Histogram, EntropyIsThatOfItsDefinition) {
  for (const uint32_t seed : {1U, 2U, 3U}) {
    Histogram histogram;
    add(histogram, drawn(100, seed));
    add(histogram, drawn(20'000, seed + 10));
    std::vector<uint64_t> counts = histogram.counts();
    counts.resize(histogram.used_bins());
    counts[0] = counts[1];
    double best = HUGE_VAL;
    for (size_t bins = 128; bins <= counts.size(); ++bins) best = std::min(best, divergence_of_cut(counts, bins));
    const double threshold = entropy_threshold(histogram);
    const size_t chosen = static_cast<size_t>(std::lround(threshold / histogram.width()));
    EXPECT_NEAR(divergence_of_cut(counts, chosen), best, 1e-9) << seed;
    EXPECT_LT(chosen, counts.size());
  }
}

TEST(Histogram, PercentileIsASelection) {
  std::vector<float> numbers = drawn(50'000, 7);
  Histogram histogram;
  add(histogram, numbers);
  for (float& number : numbers) number = std::fabs(number);
  std::ranges::sort(numbers);
  for (const double quantile : {0.5, 0.9, 0.999}) {
    const double exact = numbers[static_cast<size_t>(quantile * static_cast<double>(numbers.size())) - 1];
    EXPECT_NEAR(percentile_threshold(histogram, quantile), exact, 1.01 * histogram.width());
  }
  EXPECT_GE(percentile_threshold(histogram, 1), numbers.back());
}

double square_error(const std::vector<float>& numbers, double cut) {
  double sum = 0;
  for (const float number : numbers) {
    const double code = std::clamp(std::nearbyint(number / (cut / 127)), -127.0, 127.0);
    sum += std::pow(code * (cut / 127) - number, 2);
  }
  return sum;
}

TEST(Histogram, SquareErrorIsNearTheLeast) {
  const std::vector<float> numbers = drawn(50'000, 8);
  Histogram histogram;
  add(histogram, numbers);
  const double threshold = square_threshold(histogram);
  const double limit = static_cast<double>(histogram.used_bins()) * histogram.width();
  EXPECT_LT(threshold, limit);
  for (double cut = limit / 100; cut <= limit; cut += limit / 100) {
    EXPECT_LT(square_error(numbers, threshold), square_error(numbers, cut) * 1.02) << cut;
  }
}

TEST(Histogram, NothingHasNoThreshold) {
  const Histogram histogram;
  EXPECT_EQ(entropy_threshold(histogram), 0);
  EXPECT_EQ(percentile_threshold(histogram, 0.5), 0);
  EXPECT_EQ(square_threshold(histogram), 0);
}

}  // namespace
}  // namespace assay::calibrate
