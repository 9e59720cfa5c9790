#include "engine/devices/cpu/tiles/tile_kernels.h"

#include <iterator>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"
#include "engine/devices/cpu/multipliers.h"
#include "engine/devices/cpu/parts.h"

namespace assay::engine::cpu {
namespace {

constexpr bool kMakesCodes = false;
constexpr bool kReadsSums = false;

namespace base {
constexpr size_t kBytes = 16;
constexpr size_t kMostRows[] = {0, 4, 4};
constexpr bool kHasMasks = false;
#define ASSAY_KERNEL
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/float_words_body.h"
inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) { sum += a * b; }
#include "engine/devices/cpu/tiles/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"base", kWidth, kMostVectors, most_rows, multiply};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
constexpr size_t kMostRows[] = {0, 8, 6};
constexpr bool kHasMasks = false;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/float_words_body.h"
ASSAY_KERNEL inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
  sum = _mm256_fmadd_ps(a, b, sum);
}
#include "engine/devices/cpu/tiles/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"avx2", kWidth, kMostVectors, most_rows, multiply};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
constexpr size_t kMostRows[] = {0, 12, 12, 8, 6};
constexpr bool kHasMasks = true;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/float_words_body.h"
ASSAY_KERNEL inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
  sum = _mm512_fmadd_ps(a, b, sum);
}
#include "engine/devices/cpu/tiles/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"avx512", kWidth, kMostVectors, most_rows, multiply, 0, 0, 0, true};
}  // namespace avx512
#endif

}  // namespace

std::span<const TileKernels* const> all_tile_kernels() {
  static const auto kernels = [] {
    auto all = ASSAY_USABLE_KERNELS(kKernels);
    if (half_tile_kernels() != nullptr) all.push_back(half_tile_kernels());
    return all;
  }();
  return kernels;
}

const TileKernels& tile_kernels() { return *all_tile_kernels().front(); }

const TileKernels& tile_kernels(int64_t columns) {
  const TileKernels& whole = tile_kernels();
  const TileKernels* const half = half_tile_kernels();
  if (half == nullptr) return whole;
  if (has_whole_multipliers()) return columns <= static_cast<int64_t>(half->width) ? *half : whole;
  const auto computed = [&](const TileKernels& kernels) {
    return rounded_up(columns, static_cast<int64_t>(kernels.width));
  };
  constexpr int64_t kMostWasted = 5;  // of so many columns, one
  return (computed(whole) - computed(*half)) * kMostWasted >= computed(whole) ? *half : whole;
}

}  // namespace assay::engine::cpu
