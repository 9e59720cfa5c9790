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

namespace avx512_bf16 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/pair_words_body.h"
constexpr size_t kMostRows[] = {0, 12, 12, 8, 6};
#include "engine/devices/cpu/tiles/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"avx512_bf16", kWidth, kMostVectors, most_rows, multiply};
}  // namespace avx512_bf16

}  // namespace
#endif

const TileKernels* vector_pair_kernels() {
#if defined(__x86_64__)
  static const bool has_pairs = has_avx512_bf16();
  return has_pairs ? &avx512_bf16::kKernels : nullptr;
#else
  return nullptr;
#endif
}

const TileKernels* pair_kernels() {
  const TileKernels* const on_tiles = amx_pair_kernels();
  return on_tiles != nullptr ? on_tiles : vector_pair_kernels();
}

}  // namespace assay::engine::cpu
