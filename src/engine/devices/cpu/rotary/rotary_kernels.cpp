#include "engine/devices/cpu/rotary/rotary_kernels.h"

#include <algorithm>
#include <limits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

// clang-format off
namespace base {
constexpr size_t kBytes = 16;
#define ASSAY_KERNEL
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/rotary/rotary_kernels_body.h"
#undef ASSAY_KERNEL
constexpr RotaryKernels kKernels = {"base", kWidth, turned<false>, turned<true>, pairs};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/rotary/rotary_kernels_body.h"
#undef ASSAY_KERNEL
constexpr RotaryKernels kKernels = {"avx2", kWidth, turned<false>, turned<true>, pairs};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/rotary/rotary_kernels_body.h"
#undef ASSAY_KERNEL
constexpr RotaryKernels kKernels = {"avx512", kWidth, turned<false>, turned<true>, pairs};
}  // namespace avx512
#endif
// clang-format on

}  // namespace

std::span<const RotaryKernels* const> all_rotary_kernels() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const RotaryKernels& rotary_kernels(size_t columns) {
  const std::span<const RotaryKernels* const> all = all_rotary_kernels();
  const auto found = std::ranges::find_if(all, [&](const RotaryKernels* kernels) { return kernels->width <= columns; });
  return found == all.end() ? *all.back() : **found;
}

}  // namespace assay::engine::cpu
