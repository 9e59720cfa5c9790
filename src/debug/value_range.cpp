#include "debug/value_range.h"

#include <algorithm>
#include <cmath>

namespace assay::debug {
namespace {

constexpr double kSteps = 127;  // of int8 around 0

// The ends of a floating type.
struct Limits {
  double greatest;
  double least_normal;
  double half_of_least;  // numbers that are not above round to 0
};

constexpr Limits kFloat16 = {65520, 0x1p-14, 0x1p-25};  // from 65520 on, numbers round to infinity
constexpr Limits kBfloat16 = {0x1.ffp127, 0x1p-126, 0x1p-134};

void count(double magnitude, const Limits& limits, results::NarrowedShare& share) {
  share.overflow += magnitude >= limits.greatest ? 1 : 0;
  const bool is_lost = magnitude <= limits.half_of_least;
  share.lost += is_lost ? 1 : 0;
  share.denormal += !is_lost && magnitude < limits.least_normal ? 1 : 0;
}

}  // namespace

results::ValueRange measure_range(std::span<const double> numbers) {
  results::ValueRange range;
  range.count = numbers.size();
  for (const double number : numbers) {
    if (std::isfinite(number)) range.greatest = std::max(range.greatest, std::abs(number));
  }
  const double half_step = range.greatest / kSteps / 2;
  range.least = range.greatest;
  double counted = 0;
  for (const double number : numbers) {
    const double magnitude = std::abs(number);
    if (!std::isfinite(number) || number == 0) continue;
    ++counted;
    range.least = std::min(range.least, magnitude);
    count(magnitude, kFloat16, range.float16);
    count(magnitude, kBfloat16, range.bfloat16);
    range.int8.lost += magnitude < half_step ? 1 : 0;
  }
  if (counted == 0) return range;
  for (results::NarrowedShare* const share : {&range.float16, &range.bfloat16, &range.int8}) {
    share->overflow /= counted;
    share->denormal /= counted;
    share->lost /= counted;
  }
  return range;
}

}  // namespace assay::debug
