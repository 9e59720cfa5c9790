#pragma once

#include <cstdint>

namespace assay::engine::cpu {

// The scale and zero point that a range of numbers asks for, widened to hold 0.
struct DynamicScale {
  float scale = 1;
  uint8_t zero = 0;
};

// Makes codes of numbers, as DynamicQuantizeLinear does. Uses all threads.
DynamicScale make_dynamic_codes(const float* x, uint64_t count, uint8_t* codes);

}  // namespace assay::engine::cpu
