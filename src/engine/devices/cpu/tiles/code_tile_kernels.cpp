#include <cstring>
#include <iterator>
#include <limits>

#include "engine/devices/cpu/processor.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::engine::cpu {

#if defined(__x86_64__)
namespace {

#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma")]]

namespace plain_codes {
constexpr size_t kBytes = 64;
constexpr bool kFlips = false;
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/code_words_body.h"
constexpr size_t kMostRows[] = {0, 12, 12, 8, 6};
#include "engine/devices/cpu/tiles/tile_kernels_body.h"
constexpr TileKernels kKernels = {"avx512_vnni", kWidth, kMostVectors, most_rows, multiply};
}  // namespace plain_codes

namespace flipped_codes {
constexpr size_t kBytes = 64;
constexpr bool kFlips = true;
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/code_words_body.h"
constexpr size_t kMostRows[] = {0, 12, 12, 8, 6};
#include "engine/devices/cpu/tiles/tile_kernels_body.h"
constexpr TileKernels kKernels = {"avx512_vnni_flipped", kWidth, kMostVectors, most_rows, multiply};
}  // namespace flipped_codes

#undef ASSAY_KERNEL

}  // namespace

const TileKernels* code_kernels(bool are_signed) {
  if (!has_avx512_vnni()) return nullptr;
  return are_signed ? &flipped_codes::kKernels : &plain_codes::kKernels;
}
#else
const TileKernels* code_kernels(bool) { return nullptr; }
#endif

}  // namespace assay::engine::cpu
