#pragma once

#include <memory>

#include "engine/devices/cpu/device.h"

namespace assay::engine::cpu {

// Products of codes of 8 bits by constant int8 weights on tiles: `product.codes` of matrices, `conv.codes` of pictures,
// and `conv.codes_in_groups` of several channels each.
std::unique_ptr<Implementation> coded_matrices();
std::unique_ptr<Implementation> coded_convolutions();
std::unique_ptr<Implementation> coded_convolutions_in_groups();

}  // namespace assay::engine::cpu
