#pragma once

#include "engine/devices/cuda/launch.h"
#include "engine/layers/placed_copies.h"

namespace assay::engine::cuda {

// Elements of so many bits, whatever they mean; undefined: texts have none.
tensor::DType type_of_bits(int bits);

// Copies a tensor to other strides, and to another type where floats can be read of both.
std::unique_ptr<Kernel> make_copy(Programs& programs, const TensorDesc& from, const TensorDesc& to);

// Copies parts into the first output; null: one has no kernel.
std::unique_ptr<Kernel> make_copies(Programs& programs, const std::vector<CopyPart>& parts);

}  // namespace assay::engine::cuda
