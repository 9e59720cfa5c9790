#pragma once

#include <cstdint>
#include <span>

#include "tensor/dtype.h"
#include "tensor/storage.h"

namespace assay::convert {

// Counts of float32 numbers by what a 16-bit format makes of them.
struct HalfSurvey {
  float largest = 0;       // magnitude of finite numbers
  uint64_t overflows = 0;  // finite numbers that become infinite
  uint64_t flushed = 0;    // numbers that become zero
  friend bool operator==(const HalfSurvey&, const HalfSurvey&) = default;
};

// The largest number of float16 or bfloat16, and the smallest with full precision.
float largest_half(tensor::DType half);
float smallest_normal_half(tensor::DType half);
// The largest number that becomes 0.
float largest_flushed_half(tensor::DType half);

// `floats` are packed float32 at any address. Results do not depend on the number of threads.
HalfSurvey survey_floats(tensor::DType half, tensor::Bytes floats);
// Rounds each of them once, to nearest even, as tensor::store does; `clamps`: finite numbers stay finite, and only 0
// becomes 0.
void narrow_floats(tensor::DType half, tensor::Bytes floats, bool clamps, std::span<uint16_t> out);

}  // namespace assay::convert
