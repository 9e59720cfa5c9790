#pragma once

#include "engine/layers/form.h"

namespace assay::engine::cpu {

// The convolution of a layer whose pictures lie channels last, of types that kernels here compute; null: another layer.
const ConvolutionForm* convolution_of(const Layer& layer);

// True for a convolution of bfloat16 on a processor that multiplies it on AMX tiles.
bool multiplies_on_tiles(const Layer& layer);

// The product of a layer, of types that kernels here compute, where it lies; nullopt: another layer, or another order.
std::optional<LocatedProduct> product_of(const Layer& layer);
// A product of floats, whatever a Gemm adds; nullopt: another layer, or another order.
std::optional<ProductGeometry> float_product_of(const Layer& layer);

// The resize of a layer whose operand and result lie alike; null: another layer, or another order.
const ResizeForm* resize_of(const Layer& layer);

}  // namespace assay::engine::cpu
