#include "engine/devices/cpu/panels/digits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "engine/devices/cpu/processor.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::engine::cpu {
namespace {

#if defined(__x86_64__)
namespace avx2 {
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
constexpr size_t kBytes = 32;
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/digit_pairs_body.h"
template <size_t kRows>
constexpr size_t kVectorsAtOnce = kRows == 1 ? 4 : 2;  // of sums that registers hold
#include "engine/devices/cpu/panels/block_numbers_body.h"
#include "engine/devices/cpu/panels/digits_body.h"
#undef ASSAY_KERNEL
constexpr DigitKernels kKernels = {"avx2", split_row, multiply};
}  // namespace avx2

namespace avx512_vnni {
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma")]]
constexpr size_t kBytes = 64;
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/digit_quads_body.h"
template <size_t kRows>
constexpr size_t kVectorsAtOnce = 2;
#include "engine/devices/cpu/panels/block_numbers_body.h"
#include "engine/devices/cpu/panels/digits_body.h"
#undef ASSAY_KERNEL
constexpr DigitKernels kKernels = {"avx512_vnni", split_row, multiply};
}  // namespace avx512_vnni
#endif

}  // namespace

size_t digit_runs(size_t depth, size_t block) {
  const size_t of_block = (block + DigitRun::kRows - 1) / DigitRun::kRows;
  return depth / block * of_block + (depth % block + DigitRun::kRows - 1) / DigitRun::kRows;
}

std::span<const DigitKernels* const> all_digit_kernels() {
  static const std::vector<const DigitKernels*> kernels = [] {
    std::vector<const DigitKernels*> usable;
#if defined(__x86_64__)
    if (has_avx512_vnni()) usable.push_back(&avx512_vnni::kKernels);
    if (has_avx2()) usable.push_back(&avx2::kKernels);
#endif
    return usable;
  }();
  return kernels;
}

const DigitKernels* digit_kernels() { return all_digit_kernels().empty() ? nullptr : all_digit_kernels().front(); }

}  // namespace assay::engine::cpu
