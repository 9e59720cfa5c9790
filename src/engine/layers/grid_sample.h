#pragma once

#include <optional>

#include "engine/layers/layer.h"
#include "ops/kernels/window/grid.h"

namespace assay::engine {

// A GridSample of pictures, by the nearest element or linear weights.
struct GridForm {
  ops::GridMode mode = ops::GridMode::linear;
  ops::GridPadding padding = ops::GridPadding::zeros;
  bool aligns_corners = false;

  ops::GridAxis axis(int64_t length) const { return {length, padding, aligns_corners}; }
};

// Nullopt: another layer, an empty one, or one of which something does not lie plainly.
std::optional<GridForm> find_grid_sample(const Layer& layer);

}  // namespace assay::engine
