#include "engine/devices/cpu/rows/weighted_rows.h"

#include <algorithm>
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
#include "engine/devices/cpu/rows/weighted_rows_body.h"
#undef ASSAY_KERNEL
constexpr WeightedRows kRows = {"base", sum, greatest};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
// Loops over it.
#include "engine/devices/cpu/rows/weighted_rows_body.h"
#undef ASSAY_KERNEL
constexpr WeightedRows kRows = {"avx2", sum, greatest};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
// Loops over it.
#include "engine/devices/cpu/rows/weighted_rows_body.h"
#undef ASSAY_KERNEL
constexpr WeightedRows kRows = {"avx512", sum, greatest};
}  // namespace avx512
#endif

}  // namespace

std::span<const WeightedRows* const> all_weighted_rows() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kRows);
  return kernels;
}

const WeightedRows& weighted_rows() { return *all_weighted_rows().front(); }

}  // namespace assay::engine::cpu
