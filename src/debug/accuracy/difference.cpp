#include "debug/accuracy/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::debug {
namespace {

// Whole numbers next to each other stand for one real number on the edge between them.
constexpr double kShareOfSteps = 0.005;

double greatest_of(tensor::DType dtype) {
  if (dtype == tensor::DType::float16) return 65504;
  const bool has_range_of_float = dtype == tensor::DType::float32 || dtype == tensor::DType::bfloat16;
  return has_range_of_float ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

double least_normal_of(tensor::DType dtype) {
  if (dtype == tensor::DType::float16) return std::ldexp(1, -14);
  return dtype == tensor::DType::float64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
}

// Whether the type leaves the side no other choice: infinity, or few bits next to 0.
bool is_beyond(double given, double exact, tensor::DType dtype) {
  const double least = least_normal_of(dtype);
  if (std::abs(exact) < least) return std::abs(given) <= least;
  return std::isinf(given) && std::abs(exact) > greatest_of(dtype) && (given > 0) == (exact > 0);
}

// The distance of two numbers; NaN only from NaN is none.
double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double difference = std::abs(a - b);
  return std::isnan(difference) ? INFINITY : difference;
}

Difference difference_of(const std::vector<double>& given, const std::vector<double>& exact) {
  Difference found;
  found.count = exact.size();
  for (size_t i = 0; i < exact.size(); ++i) found.greatest = std::max(found.greatest, distance(given[i], exact[i]));
  return found;
}

}  // namespace

double greatest_distance(const std::vector<double>& given, const std::vector<double>& exact) {
  return difference_of(given, exact).greatest;
}

Difference judge_floats(const std::vector<double>& given, const std::vector<double>& exact,
                        const std::vector<double>& allowed, tensor::DType dtype) {
  constexpr double kPeak = 4;  // of single elements over what may be
  Difference found = difference_of(given, exact);
  double squares = 0, allowed_squares = 0;
  uint64_t notable = 0, beyond = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double by = distance(given[i], exact[i]);
    const double may = allowed[i];
    if (std::isfinite(by)) {
      squares += by * by;
      allowed_squares += may * may;
    }
    if (by == 0) continue;
    if (by > may / 2) {
      ++notable;
      beyond += is_beyond(given[i], exact[i], dtype) ? 1 : 0;
    }
    const double excess = may == 0 ? INFINITY : by / (kPeak * may);
    if (excess > found.excess) {
      found.excess = excess;
      found.tolerance_there = kPeak * may;
    }
    if (excess <= 1) continue;
    ++found.failed_count;
  }
  if (allowed_squares > 0) {
    found.excess = std::max(found.excess, std::sqrt(squares / allowed_squares));
  }
  if (found.tolerance_there == 0 && !allowed.empty()) found.tolerance_there = kPeak * std::ranges::max(allowed);
  found.is_of_type = beyond > 0 && beyond == notable;
  return found;
}

Difference judge_whole(const std::vector<double>& given, const std::vector<double>& exact,
                       const std::vector<double>& allowed, bool comes_from_floats) {
  Difference found = difference_of(given, exact);
  uint64_t steps = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double by = distance(given[i], exact[i]);
    if (by == 0 || by <= allowed[i]) continue;
    if (by == 1 && comes_from_floats) ++steps;
    ++found.failed_count;
    found.excess = INFINITY;
  }
  const bool are_few = static_cast<double>(steps) <= std::max(1.0, kShareOfSteps * static_cast<double>(exact.size()));
  if (comes_from_floats && exact.size() > 1 && steps == found.failed_count && are_few) {
    found.failed_count = 0;
    found.excess = 0;
  }
  return found;
}

}  // namespace assay::debug
