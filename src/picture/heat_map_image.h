#pragma once

#include "picture/image.h"
#include "results/heat_map.h"

namespace assay::picture {

enum class HeatScale : uint8_t { linear, logarithmic };

// The finite numbers that the two ends of the colours stand for, and what else is in the map.
struct HeatRange {
  double least = 0;
  double greatest = 0;
  bool has_nan = false;
  bool has_infinity = false;
};

// The range of a map; on a logarithmic scale, zeros count as the least number above 0.
HeatRange heat_range(const results::HeatMap& map, HeatScale scale);

// One pixel for each cell of a map, which must not be empty.
Image heat_map_image(const results::HeatMap& map, HeatScale scale);
// The image with a bar of all colours below it, and the numbers that its ends stand for.
Image heat_map_picture(const results::HeatMap& map, HeatScale scale);

}  // namespace assay::picture
