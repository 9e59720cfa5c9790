#pragma once

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/onednn/library.h"

namespace assay::engine::cpu::onednn {

// Conv of floats or dequantised integers over one or two dims, channels last, with constant weights, and what follows
// it in its layer. Null: another layer. Variants: by what lanes are divided, and the library's implementation:
// `rows/jit:avx512_core`.
std::unique_ptr<Kernel> make_convolution(const Library& library, const Layer& layer, std::string_view variant);
std::vector<std::string> convolution_variants(const Library& library, const Layer& layer);
// True if rows cannot be divided evenly among lanes, nor channels.
bool has_uneven_lanes(const Layer& layer);
// MatMul and Gemm of floats or dequantised integers and MatMulInteger, likewise: `rows/…`, `columns/…`, or `pixels/…`
// where rows are the pixels of a convolution.
std::unique_ptr<Kernel> make_product(const Library& library, const Layer& layer, std::string_view variant);
std::vector<std::string> product_variants(const Library& library, const Layer& layer);

}  // namespace assay::engine::cpu::onednn
