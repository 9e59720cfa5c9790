#include "engine/devices/cpu/integers/score_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

#define ASSAY_BODY "engine/devices/cpu/integers/score_rows_body.h"
#include "engine/devices/cpu/instruction_sets_body.h"

}  // namespace

std::span<const ScoreKernels* const> all_score_kernels() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const ScoreKernels& score_kernels() { return *all_score_kernels().front(); }

}  // namespace assay::engine::cpu
