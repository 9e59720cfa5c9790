#include "engine/devices/cpu/tape/tape_kernels.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"
#include "engine/devices/cpu/tape/erf_intervals.h"

namespace assay::engine::cpu {
namespace {

// The function of numbers that are too far from zero for the loops.
float scalar(ElementOp op, float x) {
  switch (op) {
    case ElementOp::sine:
      return std::sin(x);
    case ElementOp::cosine:
      return std::cos(x);
    default:
      return x;
  }
}

namespace base {
constexpr size_t kBytes = 16;
template <typename V>
void square_root(const V& x, V& out) {
  for (size_t i = 0; i < kBytes / sizeof(float); ++i) out[i] = std::sqrt(x[i]);
}
#define ASSAY_KERNEL
#include "engine/devices/cpu/tape/tape_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TapeKernels kKernels = {"base", binary, select, unary};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
[[gnu::target("avx2,fma")]] inline void square_root(const __m256& x, __m256& out) { out = _mm256_sqrt_ps(x); }
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/tape/tape_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TapeKernels kKernels = {"avx2", binary, select, unary};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
[[gnu::target("avx512f")]] inline void square_root(const __m512& x, __m512& out) {
  out = _mm512_maskz_sqrt_ps(0xFFFF, x);  // GCC 12 warns of the plain one (its bug 105593)
}
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/tape/tape_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TapeKernels kKernels = {"avx512", binary, select, unary};
}  // namespace avx512
#endif

}  // namespace

std::span<const TapeKernels* const> all_tape_kernels() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const TapeKernels& tape_kernels() { return *all_tape_kernels().front(); }

}  // namespace assay::engine::cpu
