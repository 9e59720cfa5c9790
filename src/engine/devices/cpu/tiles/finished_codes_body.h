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
  apply_alone(step, x);
}

template <typename Part>
ASSAY_KERNEL [[gnu::always_inline]] inline Part part_of(const __m512i& all, size_t index) {
  Part parts[sizeof(all) / sizeof(Part)];
  std::memcpy(parts, &all, sizeof(all));
  return parts[index];
}

// Of rows of one or two vectors, so many that they fill four.
template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_some(const FinishRows& rows, const Vector (*x)[kVectors],
                                                           std::byte* out) {
  Vector all[kRows * kVectors];
#pragma GCC unroll 4
  for (size_t i = 0; i < kRows * kVectors; ++i) all[i] = x[i / kVectors][i % kVectors];
  __m512i codes;
  to_codes(rows, all, codes);
  const uint64_t lanes = ~uint64_t{0} >> (kBytes - rows.channels);
#pragma GCC unroll 4
  for (size_t r = 0; r < kRows; ++r, out += rows.out_row) {
    if constexpr (kVectors == 1)
      _mm_mask_storeu_epi8(out, static_cast<__mmask16>(lanes), part_of<__m128i>(codes, r));
    else if constexpr (kVectors == 2)
      _mm256_mask_storeu_epi8(out, static_cast<__mmask32>(lanes), part_of<__m256i>(codes, r));
    else
      _mm512_mask_storeu_epi8(out, lanes, codes);
  }
}

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_rows(const FinishRows& rows, const Vector (&x)[kRows][kVectors],
                                                           std::byte* out) {
  constexpr size_t kTogether = 4 / kVectors;
  constexpr size_t kRest = kRows % kTogether;
#pragma GCC unroll 16
  for (size_t r = 0; r + kTogether <= kRows; r += kTogether, out += static_cast<int64_t>(kTogether) * rows.out_row)
    write_some<kTogether>(rows, x + r, out);
  if constexpr (kRest > 0) write_some<kRest>(rows, x + (kRows - kRest), out);
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
  write_rows(rows, x, static_cast<std::byte*>(rows.out) + tile.element);
}
