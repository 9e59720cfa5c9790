// Codes of the sums of a tile while these are in registers, for AVX-512, after tile_kernels.h's words. Rows are written
// in groups of at most four vectors, whose codes fill one.

#include "engine/devices/cpu/integers/finish_numbers_body.h"

template <size_t kVectors>
constexpr size_t kGroupRows = 4 / kVectors;

template <typename T, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_rows(const FinishRows& rows, const FinishStep& step,
                                                         int64_t element, Vector (&x)[kRows][kVectors]) {
  const uint16_t last = last_lanes(rows.channels);
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r, element += rows.out_row) add_numbers<T>(step, last, element, x[r]);
  if (step.offset == 0) return;
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) add_offset(step.offset, x[r]);
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

template <typename Part>
ASSAY_KERNEL [[gnu::always_inline]] inline Part part_of(const __m512i& all, size_t index) {
  Part parts[sizeof(all) / sizeof(Part)];
  std::memcpy(parts, &all, sizeof(all));
  return parts[index];
}

template <size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_row(const __m512i& codes, size_t index, uint64_t lanes,
                                                          std::byte* out) {
  if constexpr (kVectors == 1)
    _mm_mask_storeu_epi8(out, static_cast<__mmask16>(lanes), part_of<__m128i>(codes, index));
  else if constexpr (kVectors == 2)
    _mm256_mask_storeu_epi8(out, static_cast<__mmask32>(lanes), part_of<__m256i>(codes, index));
  else
    _mm512_mask_storeu_epi8(out, lanes, codes);
}

// Constants of all rows of a tile.
struct CodeWriting {
  ASSAY_KERNEL [[gnu::always_inline]] explicit CodeWriting(const FinishRows& rows)
      : packing(rows), lanes(~uint64_t{0} >> (kBytes - rows.channels)) {}

  Packing packing;
  uint64_t lanes;
};

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void scale_sums(const FinishRows& rows, Vector (&x)[kRows][kVectors]) {
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    const Vector factor = at(rows.factors + v * kWidth).lanes;
    const Vector bias = at(rows.bias + v * kWidth).lanes;
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) {
      const Vector sum = _mm512_maskz_cvtepi32_ps(kAllLanes, reinterpret_cast<__m512i>(x[r][v]));
      fused(sum, factor, bias, x[r][v]);
    }
  }
}

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_group(const FinishRows& rows, const CodeWriting& writing,
                                                            int64_t element, Vector (&x)[kRows][kVectors]) {
  Vector all[kRows * kVectors];
#pragma GCC unroll 4
  for (size_t i = 0; i < kRows * kVectors; ++i) all[i] = x[i / kVectors][i % kVectors];
  __m512i codes;
  to_codes(rows.may_overflow, writing.packing, all, codes);
  std::byte* out = static_cast<std::byte*>(rows.out) + element;
#pragma GCC unroll 4
  for (size_t r = 0; r < kRows; ++r, out += rows.out_row) write_row<kVectors>(codes, r, writing.lanes, out);
}

template <size_t kFirst, size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_groups(const FinishRows& rows, const CodeWriting& writing,
                                                             int64_t element, const Vector (&all)[kRows][kVectors]) {
  constexpr size_t kCount = std::min(kGroupRows<kVectors>, kRows - kFirst);
  Vector x[kCount][kVectors];
#pragma GCC unroll 4
  for (size_t r = 0; r < kCount; ++r) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) x[r][v] = all[kFirst + r][v];
  }
  write_group(rows, writing, element, x);
  if constexpr (kFirst + kCount < kRows)
    write_groups<kFirst + kCount>(rows, writing, element + static_cast<int64_t>(kCount) * rows.out_row, all);
}

template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void make_codes(const Tile& tile, Vector (&x)[kRows][kVectors]) {
  const FinishRows& rows = *tile.finish;
  scale_sums(rows, x);
  for (size_t i = 0; i < rows.step_count; ++i) apply_step(rows, rows.steps[i], tile.element, x);
  write_groups<0>(rows, CodeWriting(rows), tile.element, x);
}
