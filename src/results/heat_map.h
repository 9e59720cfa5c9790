#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace assay::results {

// Differences as a picture: the last two axes are the image, images of the leading indices lie side by side. A cell is
// the greatest difference of the elements it stands for (NaN is greater than all), or kNoElement.
struct HeatMap {
  static constexpr float kNoElement = -1;

  uint32_t rows = 0;
  uint32_t columns = 0;
  std::vector<float> cells;  // row by row
};

// Differences of one output of two runs. `absolute` and `relative` have the same size; without elements both are empty.
struct DifferenceMaps {
  HeatMap absolute;
  HeatMap relative;
  bool is_reduced = false;  // a cell stands for more than one element
};

// The maps that a page shows: a small picture, and a larger one if that says more and there is room.
struct OutputMaps {
  DifferenceMaps small;
  std::optional<DifferenceMaps> large;
};

}  // namespace assay::results
