#pragma once

#include <array>

#include "compare/measuring/tile.h"

namespace assay::compare {

// The power of two that brings a magnitude to [0.5, 1); that of subnormal numbers as far as a factor can.
int exponent_of(double greatest);

// A sum of squares: `mantissa` times 2 to the power of 2 * `exponent`, so that it neither overflows nor underflows.
struct SquareSum {
  double mantissa = 0;
  int exponent = 0;

  double root() const;
  // Decibels of the quotient.
  double decibels_over(const SquareSum& other) const;
};

struct ScaledSums {
  std::array<SquareSum, 3> squares;  // of both sides and their absolute difference
  double dot = 0;                    // of both sides, over the roots' powers of two
};

// The products of a tile's elements of the sides, each scaled first.
using ScaledDot = FunctionRef<double(uint64_t tile, const Tile& loaded, std::array<double, 2> scales)>;

// Takes a separate pass. `greatest`: the greatest magnitudes of the three series, all finite.
ScaledSums scaled_sums(const TileSource& source, const std::array<double, 3>& greatest, ScaledDot dot);

}  // namespace assay::compare
