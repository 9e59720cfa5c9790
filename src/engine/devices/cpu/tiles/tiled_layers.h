#pragma once

#include <memory>

#include "engine/devices/cpu/device.h"

namespace assay::engine::cpu {

// Products of float32 by constants, whose sums stay in registers: `product.tiles` of matrices with more than a few
// rows, `conv.pointwise` of pictures with windows of one pixel, and `conv.windows` with larger ones.
std::unique_ptr<Implementation> tiled_matrices();
std::unique_ptr<Implementation> tiled_pointwise();
std::unique_ptr<Implementation> tiled_windows();

}  // namespace assay::engine::cpu
