#include "engine/devices/cpu/rows/best_elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

namespace base {
constexpr size_t kBytes = 16;
#define ASSAY_KERNEL
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/vector_reductions_body.h"
// Loops over it.
#include "engine/devices/cpu/rows/best_elements_body.h"
#undef ASSAY_KERNEL
constexpr BestElements kKernels = {"base", kLargestOnes, kSmallestOnes, kLargestWhole, kSmallestWhole};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/vector_reductions_body.h"
// Loops over it.
#include "engine/devices/cpu/rows/best_elements_body.h"
#undef ASSAY_KERNEL
constexpr BestElements kKernels = {"avx2", kLargestOnes, kSmallestOnes, kLargestWhole, kSmallestWhole};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/vector_reductions_body.h"
// Loops over it.
#include "engine/devices/cpu/rows/best_elements_body.h"
#undef ASSAY_KERNEL
constexpr BestElements kKernels = {"avx512", kLargestOnes, kSmallestOnes, kLargestWhole, kSmallestWhole};
}  // namespace avx512
#endif

}  // namespace

std::span<const BestElements* const> all_best_elements() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const BestElements& best_elements() { return *all_best_elements().front(); }

}  // namespace assay::engine::cpu
