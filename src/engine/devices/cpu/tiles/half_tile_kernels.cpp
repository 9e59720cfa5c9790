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

constexpr bool kMakesCodes = false;
constexpr bool kReadsSums = false;

// Vectors of half the size, for columns that would leave much of the last whole one empty.
namespace avx512_half {
constexpr size_t kBytes = 32;
constexpr size_t kMostRows[] = {0, 10, 12, 8};  // the places of so many stay in registers beside one vector
constexpr bool kHasMasks = true;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/float_words_body.h"
ASSAY_KERNEL inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
  sum = _mm256_fmadd_ps(a, b, sum);
}
#include "engine/devices/cpu/tiles/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"avx512_half", kWidth, kMostVectors, most_rows, multiply, 0, 0, 0, true};
}  // namespace avx512_half

}  // namespace
#endif

const TileKernels* half_tile_kernels() {
#if defined(__x86_64__)
  return has_avx512() ? &avx512_half::kKernels : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace assay::engine::cpu
