#include "engine/devices/cpu/integers/finish_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

// The share of normally distributed numbers below x, less 1/2, over x: by powers of x squared.
[[maybe_unused]] constexpr float kGeluShare[] = {3.988206387e-01F,  -6.619222462e-02F, 9.719777852e-03F,
                                                 -1.079339767e-03F, 8.852828614e-05F,  -5.150995094e-06F,
                                                 1.987980482e-07F,  -4.520481767e-09F, 4.553241464e-11F};

namespace base {

float number_at(NumberType type, const void* numbers, int64_t index) {
  if (type == NumberType::int8) return static_cast<float>(static_cast<const int8_t*>(numbers)[index]);
  if (type == NumberType::uint8) return static_cast<float>(static_cast<const uint8_t*>(numbers)[index]);
  return static_cast<const float*>(numbers)[index];
}

float stepped(const FinishStep& step, float x, int64_t element) {
  if (step.op == FinishOp::add) return x + number_at(step.type, step.added, element) * step.factor + step.offset;
  if (step.op == FinishOp::gelu) {
    constexpr float kRootOfHalf = 0.707106781186547524F;
    return 0.5F * x * (1 + std::erf(x * kRootOfHalf)) * step.factor;
  }
  if (step.op == FinishOp::requantise) x = std::nearbyint(x);
  x = x < step.least ? step.least : x;
  x = x > step.greatest ? step.greatest : x;
  return step.op == FinishOp::requantise ? x * step.factor + step.offset : x;
}

void write(const FinishRows& rows, float x, int64_t element) {
  if (rows.type == NumberType::float32) {
    static_cast<float*>(rows.out)[element] = x;
    return;
  }
  const float whole = std::nearbyint(x) + static_cast<float>(rows.zero);
  const float least = rows.type == NumberType::int8 ? -128 : 0;
  const float code = whole > least ? std::min(whole, least + 255) : least;  // the least one for NaN
  if (rows.type == NumberType::int8)
    static_cast<int8_t*>(rows.out)[element] = static_cast<int8_t>(code);
  else
    static_cast<uint8_t*>(rows.out)[element] = static_cast<uint8_t>(code);
}

void finish_from(const FinishRows& rows, size_t first) {
  for (size_t r = 0; r < rows.rows; ++r) {
    const int32_t* const sums = rows.sums + static_cast<int64_t>(r) * rows.sums_row;
    for (size_t c = first; c < rows.channels; ++c) {
      const int64_t element = rows.first + static_cast<int64_t>(r) * rows.out_row + static_cast<int64_t>(c);
      float x = static_cast<float>(sums[c]) * rows.factors[c] + rows.bias[c];
      for (size_t i = 0; i < rows.step_count; ++i) x = stepped(rows.steps[i], x, element);
      write(rows, x, element);
    }
  }
}

void finish(const FinishRows& rows) { finish_from(rows, 0); }

constexpr FinishKernels kKernels = {"base", finish};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
ASSAY_KERNEL inline void round_whole(__m256& x) {
  x = _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);  // ties to even
}
ASSAY_KERNEL inline __m256i whole_numbers(const FinishRows& rows, const __m256& x) {
  return _mm256_cvtps_epi32(rows.may_overflow ? _mm256_min_ps(x, _mm256_set1_ps(kMostWhole)) : x);
}
// Writes codes: as 16 bits first, in which zero points are added, then as 8.
ASSAY_KERNEL inline void write_codes(const FinishRows& rows, const __m256& x, const __m256& y, std::byte* out) {
  const __m256i halves = _mm256_adds_epi16(_mm256_packs_epi32(whole_numbers(rows, x), whole_numbers(rows, y)),
                                           _mm256_set1_epi16(static_cast<int16_t>(rows.zero)));
  const __m256i codes =
      rows.type == NumberType::int8 ? _mm256_packs_epi16(halves, halves) : _mm256_packus_epi16(halves, halves);
  const __m128i in_order = _mm_unpacklo_epi32(_mm256_castsi256_si128(codes), _mm256_extracti128_si256(codes, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), in_order);
}
ASSAY_KERNEL inline void write_codes(const FinishRows& rows, const __m256& x, std::byte* out) {
  __m128i codes;
  write_codes(rows, x, x, reinterpret_cast<std::byte*>(&codes));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), codes);
}
#include "engine/devices/cpu/integers/finish_vectors_body.h"
#undef ASSAY_KERNEL
constexpr FinishKernels kKernels = {"avx2", finish};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/integers/finish_rows_body.h"
#undef ASSAY_KERNEL
constexpr FinishKernels kKernels = {"avx512", finish};
}  // namespace avx512
#endif

void copy_sums(const FinishRows& rows) {
  for (size_t r = 0; r < rows.rows; ++r) {
    std::memcpy(static_cast<int32_t*>(rows.out) + rows.first + static_cast<int64_t>(r) * rows.out_row,
                rows.sums + static_cast<int64_t>(r) * rows.sums_row, rows.channels * sizeof(int32_t));
  }
}

}  // namespace

std::span<const FinishKernels* const> all_finish_kernels() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

void finish_rows(const FinishRows& rows) {
  rows.type == NumberType::int32 ? copy_sums(rows) : all_finish_kernels().front()->finish(rows);
}

}  // namespace assay::engine::cpu
