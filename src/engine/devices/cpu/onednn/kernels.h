#pragma once

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/onednn/library.h"

namespace assay::engine::cpu::onednn {

// Conv of float32 over one or two dims, channels last, with constant weights, and what follows it in its layer. Null:
// another layer.
std::unique_ptr<Kernel> make_convolution(const Library& library, const Layer& layer);
// MatMul and Gemm of float32, likewise.
std::unique_ptr<Kernel> make_product(const Library& library, const Layer& layer);

}  // namespace assay::engine::cpu::onednn
