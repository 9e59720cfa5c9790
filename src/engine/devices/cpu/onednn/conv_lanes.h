#pragma once

#include "engine/layers/conv_geometry.h"

namespace assay::engine::cpu::onednn {

constexpr int64_t kChannelStep = 64;  // lanes that divide channels begin at multiples

// True if every lane may compute some channels of whole pictures: there are enough, and few pixels.
bool can_divide_channels(const ConvGeometry& g);

// True if rows, divided, would leave a lane little to do at once.
bool has_few_rows(const ConvGeometry& g);

}  // namespace assay::engine::cpu::onednn
