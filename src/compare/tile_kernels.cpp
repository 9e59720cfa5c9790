#include "compare/tile_kernels.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace assay::compare {
namespace {

namespace base {
constexpr uint64_t kBytes = 16;
#define ASSAY_KERNEL
#include "compare/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"base", widen, summarize, subtract, relate, sieve, count_from, ulp64, ulp32, ulp16};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr uint64_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2")]]
#include "compare/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"avx2", widen, summarize, subtract, relate, sieve, count_from, ulp64, ulp32, ulp16};
}  // namespace avx2

namespace avx512 {
constexpr uint64_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]
#include "compare/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"avx512", widen, summarize, subtract, relate, sieve, count_from, ulp64, ulp32, ulp16};
}  // namespace avx512
#endif

std::vector<TileKernels> find_kernels() {
  std::vector<TileKernels> found;
#if defined(__x86_64__)
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx512) found.push_back(avx512::kKernels);
  if (__builtin_cpu_supports("avx2")) found.push_back(avx2::kKernels);
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
