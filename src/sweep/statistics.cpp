#include "sweep/statistics.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace assay::sweep {
namespace {

constexpr uint64_t kSeed = 20261129;
constexpr size_t kDraws = 1000;

using Pointers = std::vector<const std::vector<double>*>;

Pointers pointers_to(const results::Evidence& rows) {
  Pointers all;
  for (const std::vector<double>& row : rows) all.push_back(&row);
  return all;
}

// The numbers of the samples of one draw: the same on every machine.
void draw(std::mt19937_64& random, std::vector<size_t>& numbers) {
  const size_t count = numbers.size();
  for (size_t& number : numbers) number = static_cast<size_t>(random() % count);
}

// Linear between neighbours, as NumPy's percentile().
double percentile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

// `score_of`: the score of the samples of these numbers.
template <typename Score>
Interval interval(size_t samples, Score&& score_of) {
  std::vector<size_t> numbers(samples);
  for (size_t i = 0; i < samples; ++i) numbers[i] = i;
  Interval result{score_of(numbers), 0, 0};
  result.low = result.high = result.value;
  if (samples < 2) return result;
  std::mt19937_64 random(kSeed);  // NOLINT: the same draws in every report
  std::vector<double> scores;
  for (size_t i = 0; i < kDraws; ++i) {
    draw(random, numbers);
    const double score = score_of(numbers);
    if (!std::isnan(score)) scores.push_back(score);
  }
  if (scores.empty()) return result;
  std::ranges::sort(scores);
  result.low = percentile(scores, 0.025);
  result.high = percentile(scores, 0.975);
  return result;
}

Pointers chosen(const Pointers& rows, const std::vector<size_t>& numbers) {
  Pointers some;
  some.reserve(numbers.size());
  for (const size_t number : numbers) some.push_back(rows[number]);
  return some;
}

}  // namespace

Interval score_with_interval(const Metric& metric, const results::Evidence& rows) {
  const Pointers all = pointers_to(rows);
  return interval(rows.size(), [&](const std::vector<size_t>& numbers) { return metric.score(chosen(all, numbers)); });
}

Interval difference_with_interval(const Metric& metric, const results::Evidence& a, const results::Evidence& b) {
  const Pointers all_a = pointers_to(a);
  const Pointers all_b = pointers_to(b);
  return interval(a.size(), [&](const std::vector<size_t>& numbers) {
    return metric.score(chosen(all_a, numbers)) - metric.score(chosen(all_b, numbers));
  });
}

double sign_test(const results::Evidence& a, const results::Evidence& b) {
  uint64_t better = 0;
  uint64_t worse = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double mean_a = a[i][0] / a[i][1];
    const double mean_b = b[i][0] / b[i][1];
    better += mean_a > mean_b ? 1 : 0;
    worse += mean_a < mean_b ? 1 : 0;
  }
  const uint64_t count = better + worse;
  const uint64_t fewer = std::min(better, worse);
  double tail = 0;
  for (uint64_t k = 0; k <= fewer; ++k) {
    const auto n = static_cast<double>(count);
    const auto i = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) - n * std::log(2.0));
  }
  return count == 0 ? 1 : std::min(1.0, 2 * tail);
}

}  // namespace assay::sweep
