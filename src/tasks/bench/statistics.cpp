#include "tasks/bench/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace assay::tasks {
namespace {

constexpr size_t kMostBlocks = 20;
constexpr size_t kLeastBlocks = 4;
constexpr size_t kLeastOfBlock = 2;
constexpr double kOutlierRanges = 3;
constexpr double kLeastDrift = 0.03;

// Quantiles of Student's distribution: 97.5% lie below, for 3 to 19 degrees of freedom.
constexpr std::array kStudent = {3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201,
                                 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093};
static_assert(kStudent.size() == kMostBlocks - kLeastBlocks + 1);

double mean(std::span<const double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

double squares_about_mean(std::span<const double> numbers) {
  const double center = mean(numbers);
  double sum = 0;
  for (const double number : numbers) sum += (number - center) * (number - center);
  return sum;
}

// The standard error of the mean of independent numbers.
double standard_error(std::span<const double> numbers) {
  const auto n = static_cast<double>(numbers.size());
  return std::sqrt(squares_about_mean(numbers) / (n - 1) / n);
}

std::vector<double> sorted(std::span<const double> numbers) {
  std::vector<double> copy(numbers.begin(), numbers.end());
  std::ranges::sort(copy);
  return copy;
}

double median_of(std::span<const double> numbers) { return median(sorted(numbers)); }
double least_of(std::span<const double> numbers) { return *std::ranges::min_element(numbers); }

// The number of blocks of neighbours that so many samples make; 0: too few.
size_t block_count(size_t samples) {
  const size_t blocks = std::min(kMostBlocks, samples / kLeastOfBlock);
  return blocks < kLeastBlocks ? 0 : blocks;
}

template <typename Statistic>
std::vector<double> of_blocks(std::span<const double> samples, size_t blocks, Statistic statistic) {
  std::vector<double> values;
  for (size_t i = 0; i < blocks; ++i) {
    const size_t begin = samples.size() * i / blocks;
    values.push_back(statistic(samples.subspan(begin, samples.size() * (i + 1) / blocks - begin)));
  }
  return values;
}

// Half the width of the interval around a statistic whose values in blocks these are.
double half_width(std::span<const double> blocks) {
  return kStudent[blocks.size() - kLeastBlocks] * standard_error(blocks);
}

// An interval around the mean of times, which is not below zero.
results::Interval around_mean(double center, double half) { return {std::max(0.0, center - half), center + half}; }

// The number of so many sorted numbers that lie outside at either end: the median of what they are drawn from is
// outside of the rest in at most 5% of all cases. Returns nullopt if they are too few for that.
std::optional<size_t> numbers_outside(size_t count) {
  constexpr double kMostBelow = 0.025;
  double chance = std::pow(0.5, static_cast<double>(count));  // that so many are below the median
  double below = chance;
  size_t outside = 0;
  if (below > kMostBelow) return std::nullopt;
  while (true) {
    chance *= static_cast<double>(count - outside) / static_cast<double>(outside + 1);
    if (below + chance > kMostBelow) return outside;
    below += chance;
    ++outside;
  }
}

// From the order of the medians of blocks, in which samples may depend on their neighbours: no shape of the
// distribution is assumed.
std::optional<results::Interval> median_interval(std::span<const double> blocks, double median) {
  const std::optional<size_t> outside = numbers_outside(blocks.size());
  if (!outside) return std::nullopt;
  const std::vector<double> ordered = sorted(blocks);
  return results::Interval{std::min(median, ordered[*outside]),
                           std::max(median, ordered[ordered.size() - 1 - *outside])};
}

uint64_t count_outliers(std::span<const double> sorted) {
  const double low = percentile(sorted, 25);
  const double high = percentile(sorted, 75);
  const double reach = kOutlierRanges * (high - low);
  return static_cast<uint64_t>(
      std::ranges::count_if(sorted, [&](double x) { return x < low - reach || x > high + reach; }));
}

// Finds out if the later half of the blocks differs from the earlier one by more than their own spread.
void find_drift(std::span<const double> blocks, results::Distribution& found) {
  const std::span<const double> early = blocks.first(blocks.size() / 2);
  const std::span<const double> late = blocks.last(blocks.size() / 2);
  found.drift = mean(late) / mean(early) - 1;
  const double error = std::hypot(standard_error(early), standard_error(late));
  const double student = kStudent[blocks.size() - kLeastBlocks];
  found.has_drift = std::abs(found.drift) > kLeastDrift && std::abs(mean(late) - mean(early)) > student * error;
}

// An interval of the ratio, from the logarithms of the ratios of blocks.
template <typename Statistic>
std::optional<results::Interval> ratio_interval(double center, std::span<const double> subject,
                                                std::span<const double> rival, Statistic statistic) {
  const size_t blocks = std::min(block_count(subject.size()), block_count(rival.size()));
  if (blocks == 0) return std::nullopt;
  std::vector<double> logarithms = of_blocks(rival, blocks, statistic);
  const std::vector<double> below = of_blocks(subject, blocks, statistic);
  for (size_t i = 0; i < blocks; ++i) logarithms[i] = std::log(logarithms[i] / below[i]);
  const double half = half_width(logarithms);
  return results::Interval{center * std::exp(-half), center * std::exp(half)};
}

}  // namespace

double percentile(std::span<const double> sorted, double p) {
  const auto n = static_cast<int64_t>(sorted.size());
  const auto above = static_cast<int64_t>(std::floor((1 - p / 100) * static_cast<double>(n)));
  return sorted[static_cast<size_t>(std::max<int64_t>(0, n - 1 - above))];
}

double median(std::span<const double> sorted) {
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

results::Distribution distribution(std::span<const double> samples, std::span<const double> percentiles) {
  const std::vector<double> ordered = sorted(samples);
  results::Distribution found{.count = samples.size(),
                              .min = ordered.front(),
                              .max = ordered.back(),
                              .mean = mean(ordered),
                              .median = median(ordered),
                              .percentiles = {},
                              .outliers = count_outliers(ordered)};
  for (const double p : percentiles) found.percentiles.emplace_back(p, percentile(ordered, p));
  const auto n = static_cast<double>(samples.size());
  if (found.mean > 0) found.variation = std::sqrt(squares_about_mean(ordered) / n) / found.mean;
  const size_t blocks = block_count(samples.size());
  if (blocks == 0) return found;
  const std::vector<double> medians = of_blocks(samples, blocks, median_of);
  found.mean_interval = around_mean(found.mean, half_width(of_blocks(samples, blocks, mean)));
  found.median_interval = median_interval(medians, found.median);
  find_drift(medians, found);
  return found;
}

results::BenchRatio ratio(std::span<const double> subject, std::span<const double> rival) {
  results::BenchRatio found;
  found.of_minima = least_of(rival) / least_of(subject);
  found.of_medians = median_of(rival) / median_of(subject);
  found.minima_interval = ratio_interval(found.of_minima, subject, rival, least_of);
  found.medians_interval = ratio_interval(found.of_medians, subject, rival, median_of);
  return found;
}

}  // namespace assay::tasks
