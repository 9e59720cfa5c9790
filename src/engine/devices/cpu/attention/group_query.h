#pragma once

#include <memory>

#include "engine/devices/cpu/device.h"

namespace assay::engine::cpu {

// com.microsoft's GroupQueryAttention with caches of known length, with or without rotary positions. Null: another
// operator, or something that the kernel does not compute (windows, soft caps, sinks, masks, norms, given positions).
std::unique_ptr<Kernel> make_group_query(const Layer& layer);

}  // namespace assay::engine::cpu
