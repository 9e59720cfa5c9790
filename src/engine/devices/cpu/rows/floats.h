#pragma once

#include <cstring>

#include "engine/devices/cpu/rows/row_kernels.h"
#include "tensor/dtype.h"

namespace assay::engine::cpu {

// Types that kernels for floats read and write; they compute in float32.
inline bool is_float(tensor::DType dtype) {
  return dtype == tensor::DType::float32 || dtype == tensor::DType::bfloat16;
}
// Types whose elements can be had as float32: those, float16, integers of a byte, and truth.
inline bool is_readable(tensor::DType dtype) {
  return is_float(dtype) || dtype == tensor::DType::float16 || dtype == tensor::DType::int8 ||
         dtype == tensor::DType::uint8 || dtype == tensor::DType::boolean;
}
inline int64_t float_bytes(tensor::DType dtype) { return tensor::bit_width(dtype) / 8; }

// Neighbouring elements: where they are, or widened into `tile`.
inline const float* read_floats(tensor::DType dtype, const void* from, float* tile, size_t count) {
  if (dtype == tensor::DType::float32) return static_cast<const float*>(from);
  if (dtype == tensor::DType::bfloat16) row_kernels().widen(static_cast<const uint16_t*>(from), tile, count);
  if (dtype == tensor::DType::float16) row_kernels().widen_half(static_cast<const uint16_t*>(from), tile, count);
  if (dtype == tensor::DType::int8) row_kernels().widen_signed(static_cast<const int8_t*>(from), tile, count);
  const bool is_unsigned = dtype == tensor::DType::uint8 || dtype == tensor::DType::boolean;
  if (is_unsigned) row_kernels().widen_unsigned(static_cast<const uint8_t*>(from), tile, count);
  return tile;
}

// The place in which results are computed: their own, or `tile`, from which write_floats takes them.
inline float* place_floats(tensor::DType dtype, void* to, float* tile) {
  return dtype == tensor::DType::float32 ? static_cast<float*>(to) : tile;
}
inline void write_floats(tensor::DType dtype, const float* tile, void* to, size_t count) {
  if (dtype == tensor::DType::bfloat16) row_kernels().narrow(tile, static_cast<uint16_t*>(to), count);
  if (dtype == tensor::DType::float16) row_kernels().narrow_half(tile, static_cast<uint16_t*>(to), count);
  if (tensor::bit_width(dtype) == 8) row_kernels().narrow_byte(tile, static_cast<uint8_t*>(to), count);
}

// Loads floats; float32 is copied.
inline void load_floats(tensor::DType dtype, const void* from, float* to, size_t count) {
  const float* const read = read_floats(dtype, from, to, count);
  if (read != to) std::memcpy(to, read, count * sizeof(float));
}
inline void store_floats(tensor::DType dtype, const float* from, void* to, size_t count) {
  if (dtype == tensor::DType::float32)
    std::memcpy(to, from, count * sizeof(float));
  else
    write_floats(dtype, from, to, count);
}

}  // namespace assay::engine::cpu
