#pragma once

#include <memory>

#include "engine/device/kernel.h"

namespace assay::engine::cpu {

// `conv.depthwise`: convolutions of float32, bfloat16 or codes in which each channel is a group of its own.
std::unique_ptr<Implementation> depthwise_layers();

}  // namespace assay::engine::cpu
