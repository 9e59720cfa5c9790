// The loops of finish_kernels.h for AVX-512. Up to kMostVectors vectors of channels are
// finished for all rows, so that their factors and biases stay in registers; `rest` channels of the last one count.

#include "engine/devices/cpu/vector_math_body.h"

constexpr size_t kMostVectors = 4;

template <size_t kVectors>
struct Chunk {
  Vector factors[kVectors], bias[kVectors];
  size_t first;   // channel
  size_t count;   // channels
  uint16_t rest;  // lanes of the last vector
};

template <size_t kVectors>
ASSAY_KERNEL inline uint16_t lanes_of(const Chunk<kVectors>& chunk, size_t vector) {
  return vector + 1 == kVectors ? chunk.rest : kAllLanes;
}

ASSAY_KERNEL inline void read_numbers(const FinishStep& step, int64_t element, uint16_t lanes, Vector& out) {
  if (step.type == NumberType::float32) {
    out = _mm512_maskz_loadu_ps(lanes, static_cast<const float*>(step.added) + element);
    return;
  }
  const __m128i codes = _mm_maskz_loadu_epi8(lanes, static_cast<const uint8_t*>(step.added) + element);
  const __m512i whole = step.type == NumberType::int8 ? _mm512_maskz_cvtepi8_epi32(kAllLanes, codes)
                                                      : _mm512_maskz_cvtepu8_epi32(kAllLanes, codes);
  out = _mm512_maskz_cvtepi32_ps(kAllLanes, whole);
}

template <size_t kVectors>
ASSAY_KERNEL inline void add(const FinishStep& step, const Chunk<kVectors>& chunk, int64_t element,
                             Vector (&x)[kVectors]) {
  Vector factor;
  set(factor, step.factor);
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    Vector added;
    read_numbers(step, element + static_cast<int64_t>(v * kWidth), lanes_of(chunk, v), added);
    fused(added, factor, x[v], x[v]);
    if (step.offset != 0) x[v] += step.offset;
  }
}

// x times the share of normally distributed numbers below it: 1/2 and an odd polynomial, which is constant beyond kEnd.
ASSAY_KERNEL inline void gelu(const FinishStep& step, Vector& x) {
  constexpr float kEnd = 4.25F;
  Vector end, half, inner, share;
  set(end, kEnd);
  set(half, 0.5F);
  x = _mm512_maskz_max_ps(kAllLanes, -end, x * step.unit);
  inner = _mm512_maskz_min_ps(kAllLanes, end, x);
  polynomial(kGeluShare, inner * inner, share);
  fused(inner, share, half, share);
  x *= share * step.factor;
}

template <size_t kVectors>
ASSAY_KERNEL inline void apply(const FinishStep& step, const Chunk<kVectors>& chunk, int64_t element,
                               Vector (&x)[kVectors]) {
  if (step.op == FinishOp::add) return add(step, chunk, element, x);
  if (step.op == FinishOp::gelu) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) gelu(step, x[v]);
    return;
  }
  constexpr int kToNearest = 8;  // ties to even, no exceptions
  const bool rounds = step.op == FinishOp::requantise;
  Vector factor, offset;
  set(factor, step.factor);
  set(offset, step.offset);
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    if (rounds) x[v] = _mm512_maskz_roundscale_ps(kAllLanes, x[v] * step.unit, kToNearest);
    bound(x[v], step.least, step.greatest, x[v]);
    if (rounds) fused(x[v], factor, offset, x[v]);
  }
}

template <size_t kVectors>
ASSAY_KERNEL inline void write_floats(const Chunk<kVectors>& chunk, const Vector (&x)[kVectors], float* out) {
#pragma GCC unroll 4
  for (size_t v = 0; v + 1 < kVectors; ++v) at(out + v * kWidth).lanes = x[v];
  constexpr size_t kLast = kVectors - 1;
  if (chunk.rest == kAllLanes)
    at(out + kLast * kWidth).lanes = x[kLast];
  else
    _mm512_mask_storeu_ps(out + kLast * kWidth, chunk.rest, x[kLast]);
}

// As 16 bits first, in which zero points are added, then as 8; a lane of 128 bits holds 4 of each vector.
template <size_t kVectors>
ASSAY_KERNEL inline void pack(const FinishRows& rows, const Vector (&x)[kVectors], __m512i& out) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  __m512i whole[kMostVectors] = {};
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    Vector number = x[v];
    if (rows.may_overflow) number = _mm512_maskz_min_ps(kAllLanes, number, _mm512_set1_ps(kMostWhole));
    whole[v] = _mm512_maskz_cvtps_epi32(kAllLanes, number);
  }
  const __m512i zero = _mm512_set1_epi16(static_cast<int16_t>(rows.zero));
  const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(whole[0], whole[1]), zero);
  const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(whole[2], whole[3]), zero);
  const __m512i codes = rows.type == NumberType::int8 ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high);
  out = _mm512_maskz_permutexvar_epi32(kAllLanes, order, codes);
}

template <size_t kVectors>
ASSAY_KERNEL inline void write_codes(const Chunk<kVectors>& chunk, const __m512i& codes, std::byte* out) {
  if (chunk.rest != kAllLanes) {
    alignas(64) std::byte all[kBytes];
    _mm512_store_si512(all, codes);
    std::memcpy(out, all, chunk.count);
  } else if constexpr (kVectors == 4) {
    _mm512_storeu_si512(out, codes);
  } else if constexpr (kVectors == 1) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_maskz_extracti32x4_epi32(0xF, codes, 0));
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_maskz_extracti64x4_epi64(0xF, codes, 0));
    if constexpr (kVectors == 3) {
      const __m128i third = _mm512_maskz_extracti32x4_epi32(0xF, codes, 2);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 32), third);
    }
  }
}

template <size_t kVectors>
ASSAY_KERNEL void finish_chunk(const FinishRows& rows, size_t first, size_t count) {
  Chunk<kVectors> chunk{.factors = {}, .bias = {}, .first = first, .count = count, .rest = kAllLanes};
  if (count % kWidth != 0) chunk.rest = static_cast<uint16_t>((1U << (count % kWidth)) - 1);
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    chunk.factors[v] = at(rows.factors + first + v * kWidth).lanes;
    chunk.bias[v] = at(rows.bias + first + v * kWidth).lanes;
  }
  for (size_t r = 0; r < rows.rows; ++r) {
    const int32_t* const sums = rows.sums + static_cast<int64_t>(r) * rows.sums_row + first;
    const int64_t element = static_cast<int64_t>(r) * rows.out_row + static_cast<int64_t>(first);
    Vector x[kVectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      const __m512i whole = _mm512_maskz_loadu_epi32(lanes_of(chunk, v), sums + v * kWidth);
      fused<Vector>(_mm512_maskz_cvtepi32_ps(kAllLanes, whole), chunk.factors[v], chunk.bias[v], x[v]);
    }
    for (size_t i = 0; i < rows.step_count; ++i) apply(rows.steps[i], chunk, element, x);
    if (rows.type == NumberType::float32) {
      write_floats(chunk, x, static_cast<float*>(rows.out) + element);
      continue;
    }
    __m512i codes;
    pack(rows, x, codes);
    write_codes(chunk, codes, static_cast<std::byte*>(rows.out) + element);
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
