#pragma once

#include <cstdint>

namespace assay::ops {

// Turns `half` pairs of elements of a vector: neighbours if `interleaves`, else those `half` apart.
inline void turn_pairs(double* head, const double* cosines, const double* sines, uint64_t half, bool interleaves) {
  for (uint64_t i = 0; i < half; ++i) {
    double& x = head[interleaves ? 2 * i : i];
    double& y = head[interleaves ? 2 * i + 1 : i + half];
    const double turned = cosines[i] * x - sines[i] * y;
    y = sines[i] * x + cosines[i] * y;
    x = turned;
  }
}

}  // namespace assay::ops
