#pragma once

#include "engine/devices/cuda/launch.h"

namespace assay::engine::cuda {

// Numbers of float32 that become codes without a sign, as DynamicQuantizeLinear makes them.
struct DynamicCodes {
  Pointer numbers;
  int64_t count = 0;
  Pointer codes, scale, zero;  // made
  int64_t workspace = 0;       // bytes of it before those that are used here
};

Launches dynamic_code_launches(Programs& programs, const DynamicCodes& of);

}  // namespace assay::engine::cuda
