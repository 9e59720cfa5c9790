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

// Whether the type leaves the side no other choice: infinity, or few bits next to 0.
bool is_beyond(double given, double exact, tensor::DType dtype) {
  const double least = least_normal_of(dtype);
  if (std::abs(exact) < least) return std::abs(given) <= least;
  return std::isinf(given) && std::abs(exact) > greatest_of(dtype) && (given > 0) == (exact > 0);
}

struct Judged {
  Difference found;
  double squares = 0;
  bool is_far = false;  // an element is further off than any may be

  void add(double by, double may, double furthest) {
    if (by == 0 || std::isinf(may)) return;
    squares += std::isfinite(by) ? by * by : 0;
    const double excess = may == 0 ? INFINITY : by / may;
    found.failed_count += excess > 1 ? 1 : 0;
    is_far = is_far || (excess > 1 && !(by <= furthest));
    if (excess > found.excess) note(excess, may);
  }
  Judged join(const Judged& other) {
    found.failed_count += other.found.failed_count;
    squares += other.squares;
    is_far = is_far || other.is_far;
    if (other.found.excess > found.excess) note(other.found.excess, other.found.tolerance_there);
    return *this;
  }
  void note(double excess, double may) {
    found.excess = excess;
    found.tolerance_there = may;
  }
};

}  // namespace

Difference judge_floats(const std::vector<double>& given, const std::vector<double>& exact,
                        const compare::Allowance& allowance) {
  const auto judge_piece = [&](uint64_t begin, uint64_t end) {
    Judged judged;
    for (uint64_t i = begin; i < end; ++i) {
      const double by = allowance.distance(given[i], exact[i]);
      judged.add(std::isnan(by) ? INFINITY : by, static_cast<double>(allowance.of_elements[i]), allowance.furthest);
    }
    return judged;
  };
  const auto join = [](Judged a, const Judged& b) { return a.join(b); };
  auto [found, squares, is_far] = parallel_reduce(exact.size(), kElementsAtATime, Judged(), judge_piece, join);
  if (!is_far && found.failed_count <= allowance.may_be_beyond) found.excess = std::min(found.excess, 1.0);
  if (allowance.rms > 0 && !exact.empty()) {
    found.excess = std::max(found.excess, std::sqrt(squares / static_cast<double>(exact.size())) / allowance.rms);
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
  Difference found;
  bool is_far = false;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double by = distance(given[i], exact[i]);
    const bool fails = by > static_cast<double>(allowance.of_elements[i]);
    found.failed_count += fails ? 1 : 0;
    is_far = is_far || (fails && by > allowance.furthest);
  }
  found.excess = is_far || found.failed_count > allowance.may_be_beyond ? INFINITY : 0;
  return found;
}

}  // namespace assay::debug
