#include "compare/measuring/series.h"

#include <algorithm>
#include <cmath>

namespace assay::compare {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Squares may overflow, which makes the difference NaN; rounding may make it negative.
double not_negative(double deviations) { return std::isnan(deviations) ? kInfinity : std::max(deviations, 0.0); }

double deviations(const TileSums& sums) { return sums.squares - sums.sum * (sums.sum / kTile); }

}  // namespace

bool is_exact(const TileSums& sums) {
  constexpr double kMostLost = 16;  // four bits
  return std::isfinite(sums.squares) && sums.squares <= kMostLost * deviations(sums);
}

void Series::see_least(uint64_t tile, double x) {
  if (least_tile_ != kNoTile && !(x < least_)) return;
  least_ = x;
  least_tile_ = tile;
}

void Series::see_greatest(uint64_t tile, double x) {
  if (greatest_tile_ != kNoTile && !(x > greatest_)) return;
  greatest_ = x;
  greatest_tile_ = tile;
}

Series::Pair Series::exact_sum(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

void Series::add_moments(uint64_t count, const Pair& mean, double deviations) {
  if (count == 0) return;
  const auto before = static_cast<double>(finite_);
  const auto more = static_cast<double>(count);
  finite_ += count;
  const double share = more / static_cast<double>(finite_);
  const double distance = (mean.sum - mean_.sum) + (mean.rest - mean_.rest);
  mean_ = before == 0 ? mean : exact_sum(mean_.sum, mean_.rest + distance * share);
  deviations_ =
      before == 0 ? deviations : not_negative(deviations_ + deviations + distance * distance * before * share);
}

void Series::add(uint64_t tile, const TileSums& sums) {
  see_least(tile, sums.least);
  see_greatest(tile, sums.greatest);
  magnitude_ += sums.magnitude;
  add_moments(kTile, exact_sum(sums.shift, sums.sum / kTile), not_negative(deviations(sums)));
}

void Series::add_each(uint64_t tile, std::span<const double> elements) {
  uint64_t count = 0;
  double sum = 0;
  double first = 0;  // of the finite ones: distances from it are summed up
  for (const double x : elements) {
    if (std::isnan(x)) {
      if (nans_++ == 0) nan_tile_ = tile;
      continue;
    }
    see_least(tile, x);
    see_greatest(tile, x);
    if (std::isinf(x)) {
      ++(x > 0 ? plus_infinities_ : minus_infinities_);
      continue;
    }
    if (count++ == 0) first = x;
    sum += x - first;
    magnitude_ += std::fabs(x);
  }
  if (count == 0) return;
  const auto number = static_cast<double>(count);
  const double mean = first + sum / number;
  double deviations = 0;
  double rest = 0;  // the mean is rounded: the sum of distances from it is not 0
  for (const double x : elements) {
    if (!std::isfinite(x)) continue;
    deviations += (x - mean) * (x - mean);
    rest += x - mean;
  }
  const double mean_rest = std::isfinite(deviations) ? rest / number : 0;
  add_moments(count, exact_sum(mean, mean_rest), not_negative(deviations - rest * mean_rest));
}

void Series::append(const Series& next) {
  if (nans_ == 0) nan_tile_ = next.nan_tile_;
  nans_ += next.nans_;
  plus_infinities_ += next.plus_infinities_;
  minus_infinities_ += next.minus_infinities_;
  magnitude_ += next.magnitude_;
  if (next.least_tile_ != kNoTile) see_least(next.least_tile_, next.least_);
  if (next.greatest_tile_ != kNoTile) see_greatest(next.greatest_tile_, next.greatest_);
  add_moments(next.finite_, next.mean_, next.deviations_);
}

double Series::least() const { return count() == 0 || nans_ != 0 ? kNan : least_; }
double Series::greatest() const { return count() == 0 || nans_ != 0 ? kNan : greatest_; }
double Series::greatest_magnitude() const { return std::max(std::fabs(least()), greatest()); }

double Series::mean() const {
  if (count() == 0 || nans_ != 0) return kNan;
  if (infinities() == 0) return mean_.sum;
  if (minus_infinities_ == 0) return kInfinity;
  return plus_infinities_ == 0 ? -kInfinity : kNan;
}

double Series::sum_of_squares() const {
  if (nans_ != 0) return kNan;
  if (infinities() != 0 || !std::isfinite(deviations_)) return kInfinity;
  return deviations_ + mean_.sum * mean_.sum * static_cast<double>(finite_);
}

bool Series::left_range() const {
  constexpr double kLeast = 1e-280;  // smaller sums may lack squares that are subnormal or 0
  if (count() == 0 || !all_finite()) return false;
  return !std::isfinite(deviations_) || !std::isfinite(magnitude_) || (deviations_ < kLeast && least_ != greatest_);
}

results::TensorStats Series::stats() const {
  results::TensorStats stats;
  stats.count = count();
  stats.nan_count = nans_;
  stats.inf_count = infinities();
  stats.mean = mean();
  stats.least = least();
  stats.greatest = greatest();
  stats.variance = count() != 0 && all_finite() ? deviations_ / static_cast<double>(finite_) : kNan;
  stats.standard_deviation = std::sqrt(stats.variance);
  stats.mean_magnitude = all_finite() ? magnitude_ / static_cast<double>(finite_) : kInfinity;
  if (count() == 0 || nans_ != 0) stats.mean_magnitude = kNan;
  return stats;
}

}  // namespace assay::compare
