#pragma once

#include <algorithm>
#include <cmath>

namespace assay::ops {

// 1 / (1 + exp(-x)); no exponential overflows.
inline double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double power = std::exp(x);
  return power / (1 + power);
}

// log(1 + exp(x)); no exponential overflows.
inline double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

}  // namespace assay::ops
