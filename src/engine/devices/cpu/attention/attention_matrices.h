#pragma once

#include "engine/devices/cpu/device.h"
#include "engine/layers/attention_geometry.h"

namespace assay::engine::cpu {

// The first element of the first matrix.
std::byte* first_byte(const Matrices& matrices, const Arguments& arguments);

}  // namespace assay::engine::cpu
