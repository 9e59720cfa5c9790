#pragma once

#include "engine/kernel.h"

namespace assay::engine::cpu {

// Copies a tensor to other strides.
std::unique_ptr<Kernel> make_copy(const TensorDesc& from, const TensorDesc& to);

}  // namespace assay::engine::cpu
