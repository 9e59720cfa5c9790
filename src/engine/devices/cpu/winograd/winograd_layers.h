#pragma once

#include <memory>

#include "engine/devices/cpu/device.h"

namespace assay::engine::cpu {

// `conv.winograd`: convolutions 3 x 3 of float32, channels last, by forms of transforms.h, where the error stays small
// and the layer is not strict. Variants: how the work is divided, and the form, `lanes/4`.
std::unique_ptr<Implementation> winograd_layers();

}  // namespace assay::engine::cpu
