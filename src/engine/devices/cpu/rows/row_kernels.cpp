#include "engine/devices/cpu/rows/row_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/instructions.h"
#include "engine/devices/cpu/processor.h"
#include "tensor/casts.h"

namespace assay::engine::cpu {
namespace {

float half_of(uint16_t bits) {
  double number = 0;
  tensor::load(tensor::DType::float16, std::as_bytes(std::span(&bits, 1)), 0, std::span(&number, 1));
  return static_cast<float>(number);
}

uint16_t half_bits(float x) {
  const double number = x;
  uint16_t bits = 0;
  tensor::store(tensor::DType::float16, std::span(&number, 1), 0, std::as_writable_bytes(std::span(&bits, 1)));
  return bits;
}

namespace base {
constexpr const char* kName = "base";
constexpr size_t kBytes = 16;
template <typename V>
void widen_vector(const uint16_t* x, V& out) {
  for (size_t i = 0; i < kBytes / sizeof(float); ++i) out[i] = half_of(x[i]);
}
template <typename V>
void narrow_vector(const V& x, uint16_t* out) {
  for (size_t i = 0; i < kBytes / sizeof(float); ++i) out[i] = half_bits(x[i]);
}
#define ASSAY_KERNEL
#include "engine/devices/cpu/rows/row_kernels_body.h"
#undef ASSAY_KERNEL
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr const char* kName = "avx2";
constexpr size_t kBytes = 32;
[[gnu::target("avx2,f16c")]] inline void widen_vector(const uint16_t* x, __m256& out) {
  out = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}
[[gnu::target("avx2,f16c")]] inline void narrow_vector(const __m256& x, uint16_t* out) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_cvtps_ph(x, 0));
}
#define ASSAY_KERNEL [[gnu::target("avx2,fma,f16c")]]
#include "engine/devices/cpu/rows/row_kernels_body.h"
#undef ASSAY_KERNEL
}  // namespace avx2

namespace avx512 {
constexpr const char* kName = "avx512";
constexpr size_t kBytes = 64;
[[gnu::target("avx512f")]] inline void widen_vector(const uint16_t* x, __m512& out) {
  out = _mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)));
}
[[gnu::target("avx512f")]] inline void narrow_vector(const __m512& x, uint16_t* out) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_maskz_cvtps_ph(0xFFFF, x, 0));
}
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/rows/row_kernels_body.h"
#undef ASSAY_KERNEL
}  // namespace avx512
#endif

}  // namespace

std::span<const RowKernels* const> all_row_kernels() {
  static const std::vector<const RowKernels*> kernels = [] {
    std::vector<const RowKernels*> usable;
#if defined(__x86_64__)
    if (has_avx512()) usable.push_back(&avx512::kKernels);
    if (has_avx2() && has_f16c()) usable.push_back(&avx2::kKernels);
#endif
    usable.push_back(&base::kKernels);
    return usable;
  }();
  return kernels;
}

const RowKernels& row_kernels() {
  static const RowKernels& kernels = *all_row_kernels().front();
  return kernels;
}

}  // namespace assay::engine::cpu
