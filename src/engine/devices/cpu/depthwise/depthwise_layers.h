#pragma once

#include <memory>

#include "engine/kernel.h"

namespace assay::engine::cpu {

// `conv.depthwise`: convolutions of float32 or bfloat16 in which each channel is a group of its own.
std::unique_ptr<Implementation> depthwise_layers();

}  // namespace assay::engine::cpu
