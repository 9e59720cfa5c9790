#pragma once

#include "engine/kernel.h"

namespace assay::engine::cpu {

// Copies a tensor to other strides and converts it; both types are readable, and what is written is a float. Null: the
// target's innermost elements are not side by side.
std::unique_ptr<Kernel> make_cast_copy(const TensorDesc& from, const TensorDesc& to);

}  // namespace assay::engine::cpu
