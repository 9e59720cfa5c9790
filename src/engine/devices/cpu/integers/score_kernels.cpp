#include "engine/devices/cpu/integers/score_kernels.h"

#include <algorithm>
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

namespace base {
constexpr size_t kBytes = 16;
#define ASSAY_KERNEL
#include "engine/devices/cpu/integers/score_rows_body.h"
#undef ASSAY_KERNEL
constexpr ScoreKernels kKernels = {"base", weigh, shift};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/integers/score_rows_body.h"
#undef ASSAY_KERNEL
constexpr ScoreKernels kKernels = {"avx2", weigh, shift};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/integers/score_rows_body.h"
#undef ASSAY_KERNEL
constexpr ScoreKernels kKernels = {"avx512", weigh, shift};
}  // namespace avx512
#endif

}  // namespace

std::span<const ScoreKernels* const> all_score_kernels() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const ScoreKernels& score_kernels() { return *all_score_kernels().front(); }

}  // namespace assay::engine::cpu
