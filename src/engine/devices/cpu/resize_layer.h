#pragma once

#include <optional>
#include <vector>

#include "engine/layer.h"
#include "ops/kernels/window/resize_plan.h"

namespace assay::engine::cpu {

// The resizing along each axis by a Resize or Upsample alone in its layer, whose operand and result lie alike. Nullopt:
// another layer, or one of which data decides, or which crops.
std::optional<std::vector<ops::ResampledAxis>> find_resize(const Layer& layer);

}  // namespace assay::engine::cpu
