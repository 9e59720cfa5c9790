#include "engine/devices/cpu/tape/coarse_kernels.h"

#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

// Each body stands on those before it.
namespace base {
constexpr size_t kBytes = 16;
#define ASSAY_KERNEL
// clang-format off
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/vector_numbers_body.h"
#include "engine/devices/cpu/tape/coarse_kernels_body.h"
// clang-format on
#undef ASSAY_KERNEL
constexpr CoarseKernels kKernels = {"base", coarse<float>, coarse<uint16_t>};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
// clang-format off
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/vector_numbers_body.h"
#include "engine/devices/cpu/tape/coarse_kernels_body.h"
// clang-format on
#undef ASSAY_KERNEL
constexpr CoarseKernels kKernels = {"avx2", coarse<float>, coarse<uint16_t>};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
// clang-format off
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/vector_numbers_body.h"
#include "engine/devices/cpu/tape/coarse_kernels_body.h"
// clang-format on
#undef ASSAY_KERNEL
constexpr CoarseKernels kKernels = {"avx512", coarse<float>, coarse<uint16_t>};
}  // namespace avx512

// Denormal results are zero.
namespace avx512_bf16 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
ASSAY_KERNEL inline void write_numbers(const Vector& x, float* out) { at(out).lanes = x; }
ASSAY_KERNEL inline void write_numbers(const Vector& x, uint16_t* out) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
}

#include "engine/devices/cpu/tape/coarse_kernels_body.h"
#undef ASSAY_KERNEL
constexpr CoarseKernels kKernels = {"avx512_bf16", coarse<float>, coarse<uint16_t>};
}  // namespace avx512_bf16
#endif

}  // namespace

std::span<const CoarseKernels* const> all_coarse_kernels() {
  static const auto kernels = [] {
    auto usable = ASSAY_USABLE_KERNELS(kKernels);
#if defined(__x86_64__)
    if (has_avx512_bf16()) usable.insert(usable.begin(), &avx512_bf16::kKernels);
#endif
    return usable;
  }();
  return kernels;
}

const CoarseKernels& coarse_kernels() { return *all_coarse_kernels().front(); }

}  // namespace assay::engine::cpu
