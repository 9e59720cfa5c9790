// The loops of finish_kernels.h for AVX-512. Up to kMostVectors vectors of channels are finished for all rows, so that
// their factors and biases stay in registers.

// clang-format off
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/integers/finish_numbers_body.h"
// clang-format on

constexpr size_t kMostVectors = 4;

// x times the share of normally distributed numbers below it: 1/2 and an odd polynomial, which is constant beyond kEnd.
// Apart, as its constants would take the registers of others; vectors go through it side by side.
template <size_t kVectors>
ASSAY_KERNEL [[gnu::noinline]] void gelu(const FinishStep& step, Vector (&x)[kVectors]) {
  constexpr float kEnd = 4.25F;
  constexpr size_t kTerms = std::size(kGeluShare);
  Vector end, half, factor, inner[kVectors], square[kVectors], share[kVectors];
  set(end, kEnd);
  set(half, 0.5F);
  set(factor, step.factor);
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    x[v] = _mm512_maskz_max_ps(kAllLanes, -end, x[v]);
    inner[v] = _mm512_maskz_min_ps(kAllLanes, end, x[v]);
    square[v] = inner[v] * inner[v];
    set(share[v], kGeluShare[kTerms - 1]);
  }
#pragma GCC unroll 16
  for (size_t i = 2; i <= kTerms; ++i) {
    Vector term;
    set(term, kGeluShare[kTerms - i]);
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) fused(share[v], square[v], term, share[v]);
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    fused(inner[v], share[v], half, share[v]);
    x[v] *= share[v] * factor;
  }
}

template <size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void apply(const FinishStep& step, uint16_t last, int64_t element,
                                                      Vector (&x)[kVectors]) {
  if (step.op == FinishOp::add) {
    if (step.type == NumberType::uint8)
      add_numbers<uint8_t>(step, last, element, x);
    else if (step.type == NumberType::int8)
      add_numbers<int8_t>(step, last, element, x);
    else
      add_numbers<float>(step, last, element, x);
    if (step.offset != 0) add_offset(step.offset, x);
    return;
  }
  if (step.op == FinishOp::gelu) {
    Vector numbers[kVectors];  // others need not lie in memory
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) numbers[v] = x[v];
    gelu(step, numbers);
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) x[v] = numbers[v];
    return;
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    if (step.op == FinishOp::requantise)
      requantise<true>(step, x[v]);
    else
      bound(x[v], step.least, step.greatest, x[v]);
  }
}

template <size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_floats(const Vector (&x)[kVectors], uint16_t last, float* out) {
#pragma GCC unroll 4
  for (size_t v = 0; v + 1 < kVectors; ++v) at(out + v * kWidth).lanes = x[v];
  _mm512_mask_storeu_ps(out + (kVectors - 1) * kWidth, last, x[kVectors - 1]);
}

template <size_t kVectors>
ASSAY_KERNEL void finish_chunk(const FinishRows& rows, size_t first, size_t count) {
  Vector factors[kVectors], bias[kVectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    factors[v] = at(rows.factors + first + v * kWidth).lanes;
    bias[v] = at(rows.bias + first + v * kWidth).lanes;
  }
  const uint16_t last = last_lanes(count);
  for (size_t r = 0; r < rows.rows; ++r) {
    const int32_t* const sums = rows.sums + static_cast<int64_t>(r) * rows.sums_row + first;
    const int64_t element = rows.first + static_cast<int64_t>(r) * rows.out_row + static_cast<int64_t>(first);
    Vector x[kVectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      const __m512i whole = _mm512_maskz_loadu_epi32(v + 1 == kVectors ? last : kAllLanes, sums + v * kWidth);
      fused<Vector>(_mm512_maskz_cvtepi32_ps(kAllLanes, whole), factors[v], bias[v], x[v]);
    }
    for (size_t i = 0; i < rows.step_count; ++i) apply(rows.steps[i], last, element, x);
    if (rows.type == NumberType::float32)
      write_floats(x, last, static_cast<float*>(rows.out) + element);
    else
      write_codes(rows, x, count, static_cast<std::byte*>(rows.out) + element);
  }
}

ASSAY_KERNEL void finish(const FinishRows& rows) {
  for (size_t first = 0; first < rows.channels; first += kMostVectors * kWidth) {
    const size_t count = std::min(rows.channels - first, kMostVectors * kWidth);
    const size_t vectors = (count + kWidth - 1) / kWidth;
    if (vectors == 4) finish_chunk<4>(rows, first, count);
    if (vectors == 3) finish_chunk<3>(rows, first, count);
    if (vectors == 2) finish_chunk<2>(rows, first, count);
    if (vectors == 1) finish_chunk<1>(rows, first, count);
  }
}
