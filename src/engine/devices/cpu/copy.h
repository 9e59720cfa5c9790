#pragma once

#include "engine/device/kernel.h"
#include "engine/layers/placed_copies.h"

namespace assay::engine::cpu {

// Copies a tensor to other strides, and to another type where floats can be read of both.
std::unique_ptr<Kernel> make_copy(const TensorDesc& from, const TensorDesc& to);

// Copies parts into the first output.
std::unique_ptr<Kernel> make_copies(const std::vector<CopyPart>& parts);

}  // namespace assay::engine::cpu
