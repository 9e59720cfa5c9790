#pragma once

#include <optional>

#include "engine/devices/cpu/integers/integer_kernels.h"
#include "engine/layers/layer.h"

namespace assay::engine::cpu {

// A layer of one elementwise operator of integers, or from or to them.
struct IntegerLayer {
  ElementLoop loop = nullptr;
  std::vector<size_t> operands;  // inputs of the layer, in the order that the loop takes them
};

// Nullopt: it is no such layer, or chains of floats compute it.
std::optional<IntegerLayer> find_integer_layer(const Layer& layer);

}  // namespace assay::engine::cpu
