#pragma once

#include <string>
#include <vector>

#include "engine/devices/cuda/launch.h"
#include "engine/layers/attention_geometry.h"

namespace assay::engine::cuda {

// A stack of matrices under the name that a text has for where one of them begins.
struct PlacedMatrices {
  std::string_view name;
  Matrices matrices;
};

// `places_of`: where the matrices of an item begin; with the numbers that the launch is given.
std::string item_places_text(const std::vector<int64_t>& items, const std::vector<PlacedMatrices>& all, Launch& launch);

}  // namespace assay::engine::cuda
