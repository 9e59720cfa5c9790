#pragma once

#include <optional>

#include "engine/device/kernel.h"
#include "engine/layers/quantization.h"

namespace assay::engine::cpu {

// Copies a tensor to other strides and converts it; both types are readable, and what is written is a float, or codes
// of the quantizer. Null: the target's innermost elements are not side by side.
std::unique_ptr<Kernel> make_cast_copy(const TensorDesc& from, const TensorDesc& to,
                                       const std::optional<Quantizer>& quantizer = {});

}  // namespace assay::engine::cpu
