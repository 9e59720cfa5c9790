#pragma once

#include "engine/layers/layer.h"

namespace assay::engine {

// The layout that a layer wants for its operands and results.
enum class LayoutRule : uint8_t {
  plain,
  channels_last,
  follows,  // any, the same for all operands that are not constant and for all results
};

// The rule of devices that compute pictures with the channels innermost.
LayoutRule usual_layout_rule(const Layer& layer);

}  // namespace assay::engine
