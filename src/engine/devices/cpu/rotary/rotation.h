#pragma once

#include <memory>

#include "engine/devices/cpu/device.h"
#include "engine/layers/rotation.h"

namespace assay::engine::cpu {

// Null: elements of a row do not lie side by side, or are of a type that is not computed.
std::unique_ptr<Kernel> make_rotation(const Rotation& rotation);

}  // namespace assay::engine::cpu
