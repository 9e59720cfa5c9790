#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "compare/measuring/tile_kernels.h"
#include "results/tensor_stats.h"

namespace assay::compare {

inline constexpr uint64_t kNoTile = std::numeric_limits<uint64_t>::max();

// True if the sums are finite and their squares did not cancel, as they do when the shift is far from the elements.
bool is_exact(const TileSums& sums);

// Statistics of a series of numbers that arrives tile by tile. Sums are of the finite ones; deviations are from the
// mean and are combined as Chan, Golub and LeVeque do it, so that no large squares cancel.
class Series {
 public:
  // A tile whose sums are exact.
  void add(uint64_t tile, const TileSums& sums);
  // Any tile, one element after the other.
  void add_each(uint64_t tile, std::span<const double> elements);
  // A series that follows this one.
  void append(const Series& next);

  uint64_t count() const { return finite_ + infinities() + nans_; }
  bool all_finite() const { return infinities() + nans_ == 0; }
  uint64_t nans() const { return nans_; }
  double sum_of_squares() const;
  // Tells that sums overflowed, or that squares were lost below the least double: scaled elements must be summed up.
  bool left_range() const;
  // Tiles of the first least and greatest element, or of the first NaN if there is one.
  uint64_t least_tile() const { return nans_ != 0 ? nan_tile_ : least_tile_; }
  uint64_t greatest_tile() const { return nans_ != 0 ? nan_tile_ : greatest_tile_; }
  double least() const;
  double greatest() const;
  double greatest_magnitude() const;
  // All statistics except indices and those that need sorting, as they follow from the sums.
  results::TensorStats stats() const;

 private:
  double mean() const;
  uint64_t infinities() const { return plus_infinities_ + minus_infinities_; }
  void see_least(uint64_t tile, double x);
  void see_greatest(uint64_t tile, double x);
  // A sum of two numbers, and what its rounding left out.
  struct Pair {
    double sum = 0;
    double rest = 0;
  };
  static Pair exact_sum(double a, double b);
  void add_moments(uint64_t count, const Pair& mean, double deviations);

  uint64_t finite_ = 0;
  uint64_t nans_ = 0;
  uint64_t plus_infinities_ = 0;
  uint64_t minus_infinities_ = 0;
  Pair mean_;
  double deviations_ = 0;  // sum of (x - mean)^2
  double magnitude_ = 0;   // sum of |x|
  double least_ = 0;
  double greatest_ = 0;
  uint64_t least_tile_ = kNoTile;
  uint64_t greatest_tile_ = kNoTile;
  uint64_t nan_tile_ = kNoTile;
};

}  // namespace assay::compare
