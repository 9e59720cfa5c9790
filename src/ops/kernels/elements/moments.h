#pragma once

#include <cstdint>

namespace assay::ops {

// Mean and population variance (the mean of squared distances from the mean) of a set of numbers; NaN for none.
struct Moments {
  double mean = 0;
  double variance = 0;
};

// The moments of the numbers at(0), at(1), ... at(count - 1), summed in this order.
template <typename At>
Moments moments_of(uint64_t count, At at) {
  Moments result;
  for (uint64_t i = 0; i < count; ++i) result.mean += at(i);
  result.mean /= static_cast<double>(count);
  for (uint64_t i = 0; i < count; ++i) {
    const double distance = at(i) - result.mean;
    result.variance += distance * distance;
  }
  result.variance /= static_cast<double>(count);
  return result;
}

}  // namespace assay::ops
