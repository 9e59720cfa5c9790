#pragma once

#include "engine/devices/cpu/panels/panel_kernels.h"

namespace assay::engine::cpu {

// The first rows and words of a product of pairs of bfloat16 that AMX tiles compute: none without permission for them.
struct AmxPart {
  size_t rows = 0, depth = 0;
};
AmxPart multiply_on_tiles(const PanelRows& rows, const float* panel, int64_t panel_row);

}  // namespace assay::engine::cpu
