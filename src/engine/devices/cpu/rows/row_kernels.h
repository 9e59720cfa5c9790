#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::engine::cpu {

// Loops over rows of float32, for one instruction set.
struct RowKernels {
  const char* name;
  void (*maximum)(float* kept, const float* x, size_t count);  // NaN is greatest
  void (*add)(float* sum, const float* x, size_t count);
  void (*scale)(float* x, float factor, size_t count);
  // From and to bfloat16, rounded to the nearest, ties to even.
  void (*widen)(const uint16_t* x, float* out, size_t count);
  void (*narrow)(const float* x, uint16_t* out, size_t count);
  // From and to integers; what is narrowed is a whole number of the type's range.
  void (*widen_signed)(const int8_t* x, float* out, size_t count);
  void (*widen_unsigned)(const uint8_t* x, float* out, size_t count);
  void (*narrow_byte)(const float* x, uint8_t* out, size_t count);  // the low byte of the number
  // Elements of three rows in turn.
  void (*interleave3)(const float* const* rows, float* out, size_t count);
  // exp(x - greatest) / sum; `out` may be `x`.
  void (*softmax)(const float* x, float* out, size_t count);
  // (x - mean) / sqrt(variance + epsilon) * scale + shift, without mean and shift where `is_rms`; no scale or shift:
  // null.
  void (*normalize)(const float* x, const float* scale, const float* shift, float* out, size_t count, float epsilon,
                    bool is_rms);
};

// The best that this processor has.
const RowKernels& row_kernels();

}  // namespace assay::engine::cpu
