#include <cstring>
#include <iterator>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/processor.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"

namespace assay::engine::cpu {

#if defined(__x86_64__)
namespace {

constexpr bool kReadsSums = false;

namespace avx2 {
constexpr size_t kBytes = 32;
constexpr bool kFlips = false;
constexpr bool kMakesCodes = false;
constexpr size_t kMostRows[] = {0, 8, 6};
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/code_words_body.h"
#include "engine/devices/cpu/words/panel_words_body.h"
ASSAY_KERNEL inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
  const __m256i products = _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b));
  sum = reinterpret_cast<Vector>(_mm256_add_epi32(reinterpret_cast<__m256i>(sum), products));
}
#include "engine/devices/cpu/tiles/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"avx2_wide", kWidth, kMostVectors, most_rows, multiply, 2};
}  // namespace avx2

}  // namespace
#endif

const TileKernels* wide_code_kernels() {
#if defined(__x86_64__)
  return has_avx2() ? &avx2::kKernels : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace assay::engine::cpu
