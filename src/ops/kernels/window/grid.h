#pragma once

#include <cstdint>

#include "ops/node.h"

namespace assay::ops {

enum class GridMode : uint8_t { nearest, linear, cubic };
enum class GridPadding : uint8_t { zeros, border, reflection };

// The mode of GridSample. Error if an attribute is none of the known words.
GridMode grid_mode(const Node& node);
GridPadding grid_padding(const Node& node);

// One spatial axis and what to do beside it.
struct GridAxis {
  int64_t length;
  GridPadding padding;
  bool aligns_corners;
};

// The elements along one axis that count for a place of the grid, with their weights; -1: a zero.
struct GridPicks {
  int64_t elements[4];
  double weights[4];
  int count;

  GridPicks(GridMode mode, const GridAxis& axis, double normalized);
};

}  // namespace assay::ops
