#pragma once

#include <span>

#include "ops/kernels/movement/movement.h"

namespace assay::surgery {

// Copies floats of `width` bytes (2 or 4, whose bits order their magnitudes), and of each group of 4 consecutive ones
// along the axis makes the two smallest in magnitude zero, the first of equal ones first. The axis is a multiple of 4
// long.
void zero_smallest(tensor::Bytes from, const ops::AxisView& view, uint32_t width, std::span<std::byte> to);

}  // namespace assay::surgery
