// Codes of the sums of a tile while these are in registers, for AVX-512, after tile_kernels.h's words.

#include "engine/devices/cpu/integers/finish_numbers_body.h"

template <typename T, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_numbers(const Tile& tile, const FinishStep& step,
                                                            Vector (&x)[kRows][kVectors]) {
  const T* const from = static_cast<const T*>(step.added) + tile.element;
  const uint16_t last = last_lanes(tile.finish->channels);
  Vector factor;
  set(factor, step.factor);
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      Vector added;
      read_numbers(from + static_cast<int64_t>(r) * tile.finish->out_row + v * kWidth,
                   v + 1 == kVectors ? last : kAllLanes, added);
      fused(added, factor, x[r][v], x[r][v]);
    }
  }
  if (step.offset == 0) return;
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) x[r][v] += step.offset;
  }
}

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void apply_step(const Tile& tile, const FinishStep& step,
                                                           Vector (&x)[kRows][kVectors]) {
  if (step.op == FinishOp::add) {
    if (step.type == NumberType::uint8) return add_numbers<uint8_t>(tile, step, x);
    return add_numbers<int8_t>(tile, step, x);
  }
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) {
      if (step.op == FinishOp::requantise)
        requantise(step, x[r][v]);
      else
        bound(x[r][v], step.least, step.greatest, x[r][v]);
    }
  }
}

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void make_codes(const Tile& tile, Vector (&x)[kRows][kVectors]) {
  const FinishRows& rows = *tile.finish;
#pragma GCC unroll 16
  for (size_t v = 0; v < kVectors; ++v) {
    const Vector factor = at(rows.factors + v * kWidth).lanes;
    const Vector bias = at(rows.bias + v * kWidth).lanes;
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) {
      const Vector sum = _mm512_maskz_cvtepi32_ps(kAllLanes, reinterpret_cast<__m512i>(x[r][v]));
      fused(sum, factor, bias, x[r][v]);
    }
  }
  for (size_t i = 0; i < rows.step_count; ++i) apply_step(tile, rows.steps[i], x);
  auto* out = static_cast<std::byte*>(rows.out) + tile.element;
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r, out += rows.out_row) write_codes(rows, x[r], rows.channels, out);
}
