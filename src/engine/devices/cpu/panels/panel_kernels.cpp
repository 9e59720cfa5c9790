#include "engine/devices/cpu/panels/panel_kernels.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/parallel.h"
#include "engine/devices/cpu/kernel_sets.h"
#include "engine/devices/cpu/panels/amx_panels.h"

namespace assay::engine::cpu {
namespace {

namespace base {
constexpr size_t kBytes = 16;
constexpr size_t kMostRows = 1;
#define ASSAY_KERNEL
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/float_words_body.h"
inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) { sum += a * b; }
#include "engine/devices/cpu/panels/block_numbers_body.h"
#include "engine/devices/cpu/panels/nibble_table_body.h"
#include "engine/devices/cpu/panels/panel_products_body.h"
#include "engine/devices/cpu/panels/panel_products_of_halves_body.h"
#include "engine/devices/cpu/panels/products_of_codes_body.h"
#undef ASSAY_KERNEL
constexpr PanelKernels kKernels = {"base",          multiply<kPanel>, multiply<kNarrowPanel>,
                                   multiply_halves, multiply_codes,   expand};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
constexpr size_t kMostRows = 3;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/float_words_body.h"
ASSAY_KERNEL inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
  sum = _mm256_fmadd_ps(a, b, sum);
}
#include "engine/devices/cpu/panels/block_numbers_body.h"
#include "engine/devices/cpu/panels/nibble_table_body.h"
#include "engine/devices/cpu/panels/panel_products_body.h"
#include "engine/devices/cpu/panels/panel_products_of_halves_body.h"
#include "engine/devices/cpu/panels/products_of_codes_body.h"
#undef ASSAY_KERNEL
constexpr PanelKernels kKernels = {"avx2",          multiply<kPanel>, multiply<kNarrowPanel>,
                                   multiply_halves, multiply_codes,   expand};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
constexpr size_t kMostRows = 8;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/float_words_body.h"
ASSAY_KERNEL inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
  sum = _mm512_fmadd_ps(a, b, sum);
}
// The values of the sixteen codes, in the lanes of one register; the upper bits of a code do not matter.
struct NibbleTable {
  ASSAY_KERNEL explicit NibbleTable(float zero) {
    for (int i = 0; i < 16; ++i) values[i] = static_cast<float>(i) - zero;
  }
  ASSAY_KERNEL void look_up(const Bits& codes, Vector& out) const {
    out = _mm512_maskz_permutexvar_ps(kAllLanes, reinterpret_cast<__m512i>(codes), values);
  }
  Vector values;
};
#include "engine/devices/cpu/panels/block_numbers_body.h"
#include "engine/devices/cpu/panels/panel_products_body.h"
#include "engine/devices/cpu/panels/panel_products_of_halves_body.h"
#include "engine/devices/cpu/panels/products_of_codes_body.h"
#undef ASSAY_KERNEL
constexpr PanelKernels kKernels = {"avx512",        multiply<kPanel>, multiply<kNarrowPanel>,
                                   multiply_halves, multiply_codes,   expand};
}  // namespace avx512

namespace avx512_bf16 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/pair_words_body.h"
constexpr size_t kMostRows = 8;
#include "engine/devices/cpu/panels/panel_products_body.h"
#undef ASSAY_KERNEL

// On tiles, as far as rows and words fill them.
void multiply_pairs(const PanelRows& rows, const float* panel, int64_t panel_row) {
  const AmxPart done = multiply_on_tiles(rows, panel, panel_row);
  if (done.rows == 0) return multiply<kPanel>(rows, panel, panel_row);
  PanelRows rest = rows;
  rest.rows = done.rows;
  rest.left += done.depth;
  rest.depth = rows.depth - done.depth;
  rest.adds = true;
  if (rest.depth > 0) multiply<kPanel>(rest, panel + done.depth * static_cast<size_t>(panel_row), panel_row);
  rest = rows;
  rest.rows = rows.rows - done.rows;
  rest.left += static_cast<int64_t>(done.rows) * rows.left_row;
  rest.out += static_cast<int64_t>(done.rows) * rows.out_row;
  if (rest.rows > 0) multiply<kPanel>(rest, panel, panel_row);
}
}  // namespace avx512_bf16
#endif

}  // namespace

uint64_t panels_of_piece(uint64_t panels, uint64_t panel_bytes) {
  constexpr uint64_t kPieceBytes = 256 << 10;
  constexpr uint64_t kPieces = 4;  // of a thread
  return std::max<uint64_t>(1, std::min(kPieceBytes / panel_bytes, panels / (kPieces * thread_count())));
}

PanelProduct pair_panel_product() {
#if defined(__x86_64__)
  if (has_avx512_bf16()) return avx512_bf16::multiply_pairs;
#endif
  return nullptr;
}

std::span<const PanelKernels* const> all_panel_kernels() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const PanelKernels& panel_kernels() { return *all_panel_kernels().front(); }

}  // namespace assay::engine::cpu
