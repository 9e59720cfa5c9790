#pragma once

#include <memory>

#include "engine/devices/cpu/device.h"

namespace assay::engine::cpu {

// Products of codes of 8 bits by constant int8 weights on tiles: `product.codes` of matrices, `conv.codes` of pictures.
std::unique_ptr<Implementation> coded_matrices();
std::unique_ptr<Implementation> coded_convolutions();

}  // namespace assay::engine::cpu
