#include "engine/devices/cpu/rows/softmax_columns.h"

#include <algorithm>
#include <cmath>
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
// Loops over it.
#include "engine/devices/cpu/rows/softmax_columns_body.h"
#undef ASSAY_KERNEL
constexpr SoftmaxColumns kKernels = {"base", run};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
// Loops over it.
#include "engine/devices/cpu/rows/softmax_columns_body.h"
#undef ASSAY_KERNEL
constexpr SoftmaxColumns kKernels = {"avx2", run};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
// Loops over it.
#include "engine/devices/cpu/rows/softmax_columns_body.h"
#undef ASSAY_KERNEL
constexpr SoftmaxColumns kKernels = {"avx512", run};
}  // namespace avx512
#endif

}  // namespace

std::span<const SoftmaxColumns* const> all_softmax_columns() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const SoftmaxColumns& softmax_columns() { return *all_softmax_columns().front(); }

}  // namespace assay::engine::cpu
