#include "compare/measuring/tile_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::compare {
namespace {

namespace base {
constexpr uint64_t kBytes = 16;
#define ASSAY_KERNEL
using Pair [[gnu::vector_size(kBytes)]] = double;
inline Pair widened(const float* x) { return Pair{x[0], x[1]}; }
// Bit i tells of x[i].
inline uint8_t bits_below(const double* x, double bound) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < 8; ++i) bits |= uint32_t{x[i] < bound} << i;
  return static_cast<uint8_t>(bits);
}
inline uint8_t bits_not_above(const double* x, double bound) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < 8; ++i) bits |= uint32_t{x[i] <= bound} << i;
  return static_cast<uint8_t>(bits);
}
using FourBits [[gnu::vector_size(kBytes)]] = int32_t;
inline uint32_t bits_of(const FourBits& mask) {
  using Halves [[gnu::vector_size(kBytes)]] = int64_t;
  const auto halves = reinterpret_cast<Halves>(mask);
  if ((halves[0] | halves[1]) == 0) return 0;
  uint32_t bits = 0;
  for (uint32_t i = 0; i < 4; ++i) bits |= static_cast<uint32_t>(mask[i] & 1) << i;
  return bits;
}
inline uint64_t pack_vector(const float* x, uint64_t marks, float* to) {
  uint64_t count = 0;
  for (uint64_t bits = marks; bits != 0; bits &= bits - 1) to[count++] = x[std::countr_zero(bits)];
  return count;
}
#include "compare/measuring/sift_body.h"
#include "compare/measuring/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"base", widen,  summarize, subtract,   relate, survey32, survey_codes, survey64,
                                  sieve,  narrow, sift,      count_from, ulp64,  ulp32,    ulp16};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr uint64_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,popcnt")]]
ASSAY_KERNEL inline __m256d widened(const float* x) { return _mm256_cvtps_pd(_mm_loadu_ps(x)); }
template <int kPredicate>
ASSAY_KERNEL inline uint8_t bits_of(const double* x, double bound) {
  const __m256d limit = _mm256_set1_pd(bound);
  const int low = _mm256_movemask_pd(_mm256_cmp_pd(_mm256_load_pd(x), limit, kPredicate));
  const int high = _mm256_movemask_pd(_mm256_cmp_pd(_mm256_load_pd(x + 4), limit, kPredicate));
  return static_cast<uint8_t>(low | high << 4);
}
ASSAY_KERNEL inline uint8_t bits_below(const double* x, double bound) { return bits_of<_CMP_LT_OQ>(x, bound); }
ASSAY_KERNEL inline uint8_t bits_not_above(const double* x, double bound) { return bits_of<_CMP_LE_OQ>(x, bound); }
using EightBits [[gnu::vector_size(kBytes)]] = int32_t;
ASSAY_KERNEL inline uint32_t bits_of(const EightBits& mask) {
  return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
}
ASSAY_KERNEL inline uint64_t pack_vector(const float* x, uint64_t marks, float* to) {
  uint64_t count = 0;
  for (uint64_t bits = marks; bits != 0; bits &= bits - 1) to[count++] = x[std::countr_zero(bits)];
  return count;
}
#include "compare/measuring/sift_body.h"
#include "compare/measuring/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"avx2", widen,  summarize, subtract,   relate, survey32, survey_codes, survey64,
                                  sieve,  narrow, sift,      count_from, ulp64,  ulp32,    ulp16};
}  // namespace avx2

namespace avx512 {
constexpr uint64_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,popcnt")]]
ASSAY_KERNEL inline __m512d widened(const float* x) { return _mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(x)); }
ASSAY_KERNEL inline uint8_t bits_below(const double* x, double bound) {
  return _mm512_cmp_pd_mask(_mm512_load_pd(x), _mm512_set1_pd(bound), _CMP_LT_OQ);
}
ASSAY_KERNEL inline uint8_t bits_not_above(const double* x, double bound) {
  return _mm512_cmp_pd_mask(_mm512_load_pd(x), _mm512_set1_pd(bound), _CMP_LE_OQ);
}
using SixteenBits [[gnu::vector_size(kBytes)]] = int32_t;
ASSAY_KERNEL inline uint32_t bits_of(const SixteenBits& mask) {
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask));
}
ASSAY_KERNEL inline uint64_t pack_vector(const float* x, uint64_t marks, float* to) {
  uint64_t count = 0;
#pragma GCC unroll 4
  for (uint64_t i = 0; i < 64; i += 16) {
    const auto mask = static_cast<__mmask16>(marks >> i);
    _mm512_storeu_ps(to + count, _mm512_maskz_compress_ps(mask, _mm512_loadu_ps(x + i)));
    count += static_cast<uint64_t>(_mm_popcnt_u32(mask));
  }
  return count;
}
#include "compare/measuring/sift_body.h"
#include "compare/measuring/sift_tail_avx512.h"
#include "compare/measuring/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"avx512",       widen,        summarize, subtract, relate,
                                  survey32,       survey_codes, survey64,  sieve,    narrow,
                                  sift_with_tail, count_from,   ulp64,     ulp32,    ulp16};
}  // namespace avx512
#endif

std::vector<TileKernels> find_kernels() {
  std::vector<TileKernels> found;
#if defined(__x86_64__)
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("popcnt");
  if (has_avx512) found.push_back(avx512::kKernels);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) found.push_back(avx2::kKernels);
#endif
  found.push_back(base::kKernels);
  return found;
}

}  // namespace

std::span<const TileKernels> tile_kernels() {
  static const std::vector<TileKernels> found = find_kernels();
  return found;
}

}  // namespace assay::compare
