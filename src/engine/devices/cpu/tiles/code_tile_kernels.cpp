#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "engine/devices/cpu/processor.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::engine::cpu {
namespace {

constexpr bool kReadsSums = false;

namespace base {
constexpr size_t kBytes = 16;
constexpr bool kFlips = false;
constexpr bool kMakesCodes = false;
constexpr size_t kMostRows[] = {0, 4, 4};
#define ASSAY_KERNEL
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/code_words_body.h"
constexpr size_t kPanelVector = kBytes / 2;
inline void read_panel(const std::byte* from, Vector& out) {
  int16_t codes[kPanelVector];
  for (size_t i = 0; i < kPanelVector; ++i) codes[i] = static_cast<int16_t>(int{static_cast<int8_t>(from[i])});
  std::memcpy(&out, codes, kBytes);
}
inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
  constexpr int kHalf = 16;
  const Bits x = reinterpret_cast<Bits>(a);
  const Bits y = reinterpret_cast<Bits>(b);
  const Bits low = ((x << kHalf) >> kHalf) * ((y << kHalf) >> kHalf);
  sum = reinterpret_cast<Vector>(reinterpret_cast<Bits>(sum) + low + (x >> kHalf) * (y >> kHalf));
}
#include "engine/devices/cpu/tiles/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"base", kWidth, kMostVectors, most_rows, multiply, 2};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
constexpr bool kFlips = false;
constexpr bool kMakesCodes = true;
constexpr size_t kMostRows[] = {0, 8, 6};
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/code_words_body.h"
constexpr size_t kPanelVector = kBytes / 2;
ASSAY_KERNEL inline void read_panel(const std::byte* from, Vector& out) {
  out = reinterpret_cast<Vector>(_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
ASSAY_KERNEL inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
  const __m256i products = _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b));
  sum = reinterpret_cast<Vector>(_mm256_add_epi32(reinterpret_cast<__m256i>(sum), products));
}
#include "engine/devices/cpu/tiles/finished_pairs_body.h"
#include "engine/devices/cpu/tiles/tile_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"avx2", kWidth, kMostVectors, most_rows, multiply, 2, kWidth};
}  // namespace avx2

#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma")]]

namespace plain_codes {
constexpr size_t kBytes = 64;
constexpr bool kFlips = false;
constexpr bool kMakesCodes = true;
constexpr size_t kMostRows[] = {0, 12, 12, 8, 6};
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/code_words_body.h"
#include "engine/devices/cpu/words/panel_words_body.h"
ASSAY_KERNEL inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
  sum = reinterpret_cast<Vector>(
      _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
#include "engine/devices/cpu/tiles/finished_codes_body.h"
#include "engine/devices/cpu/tiles/tile_kernels_body.h"
constexpr TileKernels kKernels = {"avx512_vnni", kWidth, kMostVectors, most_rows, multiply, 4, 1};
}  // namespace plain_codes

namespace flipped_codes {
constexpr size_t kBytes = 64;
constexpr bool kFlips = true;
constexpr bool kMakesCodes = true;
constexpr size_t kMostRows[] = {0, 12, 12, 8, 6};
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/code_words_body.h"
#include "engine/devices/cpu/words/panel_words_body.h"
ASSAY_KERNEL inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
  sum = reinterpret_cast<Vector>(
      _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
#include "engine/devices/cpu/tiles/finished_codes_body.h"
#include "engine/devices/cpu/tiles/tile_kernels_body.h"
constexpr TileKernels kKernels = {"avx512_vnni_flipped", kWidth, kMostVectors, most_rows, multiply, 4, 1, 128};
}  // namespace flipped_codes

#undef ASSAY_KERNEL
#endif

}  // namespace

const TileKernels& vector_code_kernels([[maybe_unused]] bool are_signed) {
#if defined(__x86_64__)
  if (has_avx512_vnni()) return are_signed ? flipped_codes::kKernels : plain_codes::kKernels;
  if (has_avx2()) return avx2::kKernels;
#endif
  return base::kKernels;
}

const TileKernels& code_kernels(bool are_signed) {
  const TileKernels* const on_tiles = amx_code_kernels(are_signed);
  return on_tiles != nullptr ? *on_tiles : vector_code_kernels(are_signed);
}

}  // namespace assay::engine::cpu
