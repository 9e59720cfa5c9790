#include "debug/accuracy/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "debug/accuracy/distances.h"

namespace assay::debug {
namespace {

constexpr uint64_t kElementsAtATime = 16384;
constexpr double kUnits = 16;  // of an element and of the root mean square

double greatest_of(tensor::DType dtype) {
  if (dtype == tensor::DType::float16) return 65504;
  const bool has_range_of_float = dtype == tensor::DType::float32 || dtype == tensor::DType::bfloat16;
  return has_range_of_float ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

double least_normal_of(tensor::DType dtype) {
  if (dtype == tensor::DType::float16) return std::ldexp(1, -14);
  return dtype == tensor::DType::float64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
}

// True if the type leaves the side no other choice: infinity, or few bits next to 0.
bool is_beyond(double given, double exact, tensor::DType dtype) {
  const double least = least_normal_of(dtype);
  if (std::abs(exact) < least) return std::abs(given) <= least;
  return std::isinf(given) && std::abs(exact) > greatest_of(dtype) && (given > 0) == (exact > 0);
}

// `distance_at` gives that of an element, infinity for NaN beside a number.
template <typename F>
compare::Overruns overruns_of(uint64_t count, const compare::Allowance& allowance, const F& distance_at) {
  const auto add_piece = [&](uint64_t begin, uint64_t end) {
    compare::Overruns found;
    for (uint64_t i = begin; i < end; ++i) found.add(i, distance_at(i), allowance);
    return found;
  };
  return parallel_reduce(count, kElementsAtATime, compare::Overruns(), add_piece, compare::joined);
}

}  // namespace

Difference judge_floats(const std::vector<double>& given, const std::vector<double>& exact,
                        const compare::Allowance& allowance) {
  const compare::Overruns overruns = overruns_of(exact.size(), allowance, [&](uint64_t i) {
    const double by = allowance.distance(given[i], exact[i]);
    return std::isnan(by) ? INFINITY : by;
  });
  Difference found{overruns.worst.allowed, overruns.worst.share, overruns.count};
  if (overruns.are_allowed(allowance)) found.excess = std::min(found.excess, 1.0);
  if (allowance.rms > 0 && !exact.empty()) {
    const double rms = std::sqrt(overruns.squares / static_cast<double>(exact.size()));
    found.excess = std::max(found.excess, rms / allowance.rms);
  }
  return found;
}

std::optional<Difference> judge_type(const std::vector<double>& given, const std::vector<double>& exact,
                                     tensor::DType dtype, double roundoff) {
  const double rms = rms_of_finite(exact);
  Difference found;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double may = kUnits * roundoff * (finite_or_zero(std::abs(exact[i])) + rms);
    const double by = distance(given[i], exact[i]);
    if (by <= may) continue;
    if (!is_beyond(given[i], exact[i], dtype)) return std::nullopt;
    ++found.failed_count;
    found.excess = std::max(found.excess, may == 0 ? INFINITY : by / may);
    found.tolerance_there = may;
  }
  return found.failed_count > 0 ? std::optional(found) : std::nullopt;
}

bool are_near(const std::vector<double>& given, const std::vector<double>& exact, double roundoff) {
  const double rms = rms_of_finite(exact);
  for (size_t i = 0; i < exact.size(); ++i) {
    const double may = kUnits * roundoff * (finite_or_zero(std::abs(exact[i])) + rms);
    if (distance(given[i], exact[i]) > may) return false;
  }
  return true;
}

Difference judge_whole(const std::vector<double>& given, const std::vector<double>& exact,
                       const compare::Allowance& allowance) {
  const compare::Overruns overruns =
      overruns_of(exact.size(), allowance, [&](uint64_t i) { return distance(given[i], exact[i]); });
  return {.excess = overruns.are_allowed(allowance) ? 0 : INFINITY, .failed_count = overruns.count};
}

}  // namespace assay::debug
