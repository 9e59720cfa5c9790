#pragma once

#include <optional>
#include <vector>

#include "engine/layers/layer.h"
#include "ops/kernels/window/resize_plan.h"

namespace assay::engine {

// A Resize or Upsample alone in its layer.
struct ResizeForm {
  std::vector<ops::ResampledAxis> axes;  // by dim
};

// Nullopt: another layer, one of which data decides, or one that crops.
std::optional<ResizeForm> find_resize(const Layer& layer);

}  // namespace assay::engine
