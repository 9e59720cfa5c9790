// Codes of the sums of a tile while these are in registers, for AVX-512, after tile_kernels.h's words.

#include "engine/devices/cpu/integers/finish_numbers_body.h"

template <typename T, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_rows(const Tile& tile, const FinishStep& step,
                                                         Vector (&x)[kRows][kVectors]) {
  const uint16_t last = last_lanes(tile.finish->channels);
  int64_t element = tile.element;
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r, element += tile.finish->out_row) add_numbers<T>(step, last, element, x[r]);
}

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void apply_step(const Tile& tile, const FinishStep& step,
                                                           Vector (&x)[kRows][kVectors]) {
  if (step.op == FinishOp::add) {
    if (step.type == NumberType::uint8) return add_rows<uint8_t>(tile, step, x);
    return add_rows<int8_t>(tile, step, x);
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
