// Codes of the sums of a tile while these are in registers, for AVX2, after tile_kernels.h's words. Columns that become
// codes fill vectors. Rows are written in groups of four vectors, whose codes fill one.

#include "engine/devices/cpu/integers/finish_octets_body.h"

template <size_t kVectors>
constexpr size_t kGroupRows = 4 / kVectors;

template <typename T, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_rows(const FinishRows& rows, const FinishStep& step,
                                                         int64_t element, Vector (&x)[kRows][kVectors]) {
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r, element += rows.out_row) add_octets<T>(step, element, x[r]);
  if (step.offset == 0) return;
  Vector offset;
  set(offset, step.offset);
#pragma GCC unroll 16
  for (size_t i = 0; i < kRows * kVectors; ++i) x[i / kVectors][i % kVectors] += offset;
}

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void apply_step(const FinishRows& rows, const FinishStep& step,
                                                           int64_t element, Vector (&x)[kRows][kVectors]) {
  if (step.op == FinishOp::add) {
    if (step.type == NumberType::uint8) return add_rows<uint8_t>(rows, step, element, x);
    return add_rows<int8_t>(rows, step, element, x);
  }
  apply_alone(step, x);
}

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void scale_sums(const FinishRows& rows, Vector (&x)[kRows][kVectors]) {
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    const Vector factor = at(rows.factors + v * kWidth).lanes;
    const Vector bias = at(rows.bias + v * kWidth).lanes;
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) {
      const Vector sum = _mm256_cvtepi32_ps(reinterpret_cast<__m256i>(x[r][v]));
      fused(sum, factor, bias, x[r][v]);
    }
  }
}

template <size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_row(const __m256i& codes, size_t index, std::byte* out) {
  const __m128i half = index * kVectors < 2 ? _mm256_castsi256_si128(codes) : _mm256_extracti128_si256(codes, 1);
  if constexpr (kVectors == 2)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), half);
  else if (index % 2 == 0)
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), half);
  else
    _mm_storeh_pd(reinterpret_cast<double*>(out), _mm_castsi128_pd(half));
}

// The last group may have fewer rows than fill a vector.
template <size_t kFirst, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_groups(const FinishRows& rows, const Packing& packing,
                                                             std::byte* out, const Vector (&x)[kRows][kVectors]) {
  constexpr size_t kCount = std::min(kGroupRows<kVectors>, kRows - kFirst);
  Vector group[4];
#pragma GCC unroll 4
  for (size_t i = 0; i < 4; ++i) group[i] = x[kFirst + i / kVectors % kCount][i % kVectors];
  __m256i codes;
  to_codes(rows.may_overflow, packing, group, codes);
#pragma GCC unroll 4
  for (size_t r = 0; r < kCount; ++r, out += rows.out_row) write_row<kVectors>(codes, r, out);
  if constexpr (kFirst + kCount < kRows) write_groups<kFirst + kCount>(rows, packing, out, x);
}

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void make_codes(const Tile& tile, Vector (&x)[kRows][kVectors]) {
  const FinishRows& rows = *tile.finish;
  scale_sums(rows, x);
  for (size_t i = 0; i < rows.step_count; ++i) apply_step(rows, rows.steps[i], tile.element, x);
  write_groups<0>(rows, Packing(rows), static_cast<std::byte*>(rows.out) + tile.element, x);
}
