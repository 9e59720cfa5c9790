#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::engine::cpu {

// A plane of a picture that is sampled by linear weights, with zeros or its border around it.
struct GridPlane {
  double height = 0, width = 0;
  bool aligns_corners = false;
  bool has_border = false;
};

// The elements of a plane, row by row, that count for some points, and their weights. One outside has the weight 0.
struct GridPoints {
  static constexpr size_t kMost = 64;

  alignas(64) int32_t elements[4][kMost];
  alignas(64) float weights[4][kMost];
};

// Loops over points, for one instruction set.
struct GridKernels {
  const char* name;
  // Finds up to kMost points by their places: x and y, from -1 to 1.
  void (*find)(const GridPlane& plane, const float* places, size_t count, GridPoints& points);
  // The weighted sums of a plane at these points.
  void (*sum)(const GridPoints& points, const float* plane, size_t count, float* out);
};

// The best that this processor has.
const GridKernels& grid_kernels();
// All that this processor has, for tests.
std::span<const GridKernels* const> all_grid_kernels();

}  // namespace assay::engine::cpu
