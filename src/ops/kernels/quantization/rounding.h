#pragma once

#include <cmath>

namespace assay::ops {

// The nearest whole number, the even one of two; does not depend on the rounding mode of the processor.
inline double round_even(double x) {
  const double rounded = std::round(x);
  const bool is_tie = std::abs(x - std::trunc(x)) == 0.5;
  return is_tie ? std::copysign(2 * std::round(x / 2), x) : rounded;
}

}  // namespace assay::ops
