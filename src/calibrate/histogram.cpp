#include "calibrate/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/parallel.h"

namespace assay::calibrate {
namespace {

constexpr uint64_t kCountedGrain = uint64_t{1} << 18;  // elements

using Counts = std::vector<uint64_t>;

Counts sum(Counts a, const Counts& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

constexpr double kMantissaOfPower = 0.5;  // by frexp

// A number within the last bin of this width.
double edge(double width) { return width * (Histogram::kBins - 0.5); }

double n_log_n(double n) { return n > 0 ? n * std::log(n) : 0; }

// The Kullback-Leibler divergence between numbers that are cut off at a bin, what lies beyond put into the last one,
// and the same bins in 128 levels, each of which spreads its numbers evenly over those of its bins that have some.
class Divergence {
 public:
  static constexpr size_t kLevels = 128;

  explicit Divergence(const Counts& counts) : mass_(1), filled_(1), logs_(1) {
    for (const uint64_t count : counts) {
      const double n = static_cast<double>(count);
      mass_.push_back(mass_.back() + n);
      filled_.push_back(filled_.back() + (n > 0 ? 1 : 0));
      logs_.push_back(logs_.back() + n_log_n(n));
    }
  }

  // From sums of n log n, so that a cut costs as much as there are levels, not bins.
  double of_cut(size_t bins) const {
    const double total = mass_.back();
    const double last = mass_[bins] - mass_[bins - 1];
    const double outliers = total - mass_[bins];
    if (last == 0 && outliers > 0) return HUGE_VAL;  // the levels have nothing where the outliers are put
    double sum = logs_[bins - 1] + n_log_n(last + outliers);
    for (size_t level = 0; level < kLevels; ++level) {
      const size_t begin = level * bins / kLevels;
      const size_t end = (level + 1) * bins / kLevels;
      const double inside = mass_[end] - mass_[begin];
      if (inside == 0) continue;
      const double moved = level + 1 == kLevels ? inside + outliers : inside;
      sum -= moved * std::log(inside / (filled_[end] - filled_[begin]));
    }
    return sum / total + std::log(mass_[bins] / total);
  }

 private:
  // Sums over the bins before each: of counts, of bins that are not empty, of n log n.
  std::vector<double> mass_;
  std::vector<double> filled_;
  std::vector<double> logs_;
};

// Numbers beyond a cut, in bins: how many, their sum, and the sum of their squares.
struct Tail {
  double count = 0;
  double sum = 0;
  double squares = 0;

  void add(double n, double place) {
    count += n;
    sum += n * place;
    squares += n * place * place;
  }
  double cost_of_cut(double cut) const { return squares - 2 * cut * sum + cut * cut * count; }
};

}  // namespace

void Histogram::add(tensor::Bytes floats, float largest) {
  const uint64_t count = floats.size() / sizeof(float);
  if (largest == 0 && counts_.empty()) {
    zeros_ += count;
    return;
  }
  grow(double{largest});
  const double scale = 1 / width_;
  const auto count_piece = [&](uint64_t begin, uint64_t end) {
    Counts counts(kBins);
    for (uint64_t i = begin; i < end; ++i) {
      float number = 0;
      std::memcpy(&number, floats.data() + i * sizeof(float), sizeof(float));
      ++counts[static_cast<size_t>(std::fabs(double{number}) * scale)];
    }
    return counts;
  };
  counts_ = parallel_reduce(count, kCountedGrain, std::move(counts_), count_piece, sum);
}

Histogram::Histogram(double width, std::vector<uint64_t> counts) : counts_(std::move(counts)), width_(width) {
  int power = 0;
  const bool is_power = width > 0 && std::isfinite(width) && std::frexp(width, &power) == kMantissaOfPower;
  const bool is_whole = width == 0 ? counts_.size() <= 1 : is_power && counts_.size() <= kBins && used_bins() > 0;
  if (!is_whole) fail(ErrorCode::parse, "no histogram has {} bins of width {}", counts_.size(), width);
  if (width > 0) {
    counts_.resize(kBins);
    return;
  }
  zeros_ = counts_.empty() ? 0 : counts_.front();
  counts_.clear();
}

void Histogram::add(const Histogram& other) {
  if (other.counts_.empty()) {
    (counts_.empty() ? zeros_ : counts_.front()) += other.zeros_;
    return;
  }
  Histogram added = other;
  grow(edge(added.width_));
  added.grow(edge(width_));
  counts_ = sum(std::move(counts_), added.counts_);
}

void Histogram::grow(double largest) {
  if (counts_.empty()) {
    counts_.resize(kBins);
    counts_[0] = zeros_;
    int power = 0;
    std::frexp(largest, &power);  // largest < 2^power
    width_ = std::ldexp(1.0, power) / kBins;
  }
  while (width_ * kBins <= largest) {
    for (size_t i = 0; i < kBins / 2; ++i) counts_[i] = counts_[2 * i] + counts_[2 * i + 1];
    std::fill(counts_.begin() + kBins / 2, counts_.end(), 0);
    width_ *= 2;
  }
}

size_t Histogram::used_bins() const {
  size_t used = counts_.size();
  while (used > 0 && counts_[used - 1] == 0) --used;
  return used;
}

double entropy_threshold(const Histogram& histogram) {
  const size_t used = histogram.used_bins();
  if (used <= Divergence::kLevels) return static_cast<double>(used) * histogram.width();
  Counts counts(histogram.counts().begin(), histogram.counts().begin() + static_cast<std::ptrdiff_t>(used));
  counts[0] = counts[1];  // zeros cost nothing at any scale
  const Divergence divergence(counts);
  double best = HUGE_VAL;
  size_t chosen = used;
  for (size_t bins = Divergence::kLevels; bins <= used; ++bins) {
    const double found = divergence.of_cut(bins);
    if (found > best) continue;
    best = found;
    chosen = bins;
  }
  return static_cast<double>(chosen) * histogram.width();
}

double percentile_threshold(const Histogram& histogram, double quantile) {
  const Counts& counts = histogram.counts();
  double total = 0;
  for (const uint64_t n : counts) total += static_cast<double>(n);
  double below = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    below += static_cast<double>(counts[i]);
    if (below >= quantile * total) return static_cast<double>(i + 1) * histogram.width();
  }
  return static_cast<double>(counts.size()) * histogram.width();
}

double square_threshold(const Histogram& histogram) {
  constexpr double kLevels = 127;
  constexpr double kUniform = 12;  // the variance of a rounding is the square of its step by this
  const Counts& counts = histogram.counts();
  const size_t used = histogram.used_bins();
  double total = 0;
  for (size_t i = 1; i < used; ++i) total += static_cast<double>(counts[i]);
  double best = HUGE_VAL;
  size_t chosen = used;
  Tail beyond;
  for (size_t bins = used; bins > 0; --bins) {
    const double cut = static_cast<double>(bins);
    const double step = cut / kLevels;
    const double cost = beyond.cost_of_cut(cut) + (total - beyond.count) * step * step / kUniform;
    if (cost < best) {
      best = cost;
      chosen = bins;
    }
    beyond.add(static_cast<double>(counts[bins - 1]), cut - 0.5);
  }
  return static_cast<double>(chosen) * histogram.width();
}

}  // namespace assay::calibrate
