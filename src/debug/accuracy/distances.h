#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tensor/datum.h"

namespace assay::debug {

// The least that moved roundings allow, without a run: of each element, in parts of itself and of the root mean square
// of those that are computed like it; and of the root mean square of all differences, in parts of that of the results.
struct RoughAllowance {
  double own = 0;
  double around = 0;
  double rms = 0;
};

// A value of a side beside what it should be on what the side was given, and beside the truth.
struct Distances {
  double introduced = 0;
  double inherited = 0;
  double total = 0;
  double magnitude = 0;        // of the truth: root of the mean square
  double tolerance_there = 0;  // at the element of `excess`
  double excess = 0;           // of the rough allowance
};

// All of one shape, in one pass. No truth: a datum without value.
Distances measure_distances(const tensor::Datum& given, const tensor::Datum& exact, const tensor::Datum& truth,
                            const RoughAllowance& rough);

inline bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// The distance of two numbers; NaN only from NaN is none.
inline double distance(double a, double b) {
  if (is_same(a, b)) return 0;
  const double difference = std::abs(a - b);
  return std::isnan(difference) ? INFINITY : difference;
}

// The greatest distance of elements at the same places; both arrays have one size.
double greatest_distance(const std::vector<double>& a, const std::vector<double>& b);

inline double finite_or_zero(double number) { return std::isfinite(number) ? number : 0; }

// Root of the mean square; squares that are not finite count as 0.
double rms_of_finite(const std::vector<double>& numbers);

}  // namespace assay::debug
