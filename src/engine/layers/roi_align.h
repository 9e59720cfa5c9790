#pragma once

#include <optional>

#include "engine/layers/layer.h"
#include "ops/kernels/window/roi.h"

namespace assay::engine {

// A RoiAlign of pictures with channels last.
struct RoiForm {
  ops::RoiRules rules;
  bool takes_greatest = false;  // of weighted neighbours, otherwise their mean
};

// Nullopt: another layer, an empty one, or one that lies otherwise or takes many samples of each bin.
std::optional<RoiForm> find_roi_align(const Layer& layer);

}  // namespace assay::engine
