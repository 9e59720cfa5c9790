#include "engine/devices/cpu/rows/weighted_rows.h"

#include <algorithm>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

#define ASSAY_BODY "engine/devices/cpu/rows/weighted_rows_body.h"
#include "engine/devices/cpu/instruction_sets_body.h"

}  // namespace

std::span<const WeightedRows* const> all_weighted_rows() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kRows);
  return kernels;
}

const WeightedRows& weighted_rows() { return *all_weighted_rows().front(); }

}  // namespace assay::engine::cpu
