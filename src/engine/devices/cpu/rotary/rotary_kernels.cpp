#include "engine/devices/cpu/rotary/rotary_kernels.h"

#include <algorithm>
#include <limits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

#define ASSAY_BODY "engine/devices/cpu/rotary/rotary_kernels_body.h"
#include "engine/devices/cpu/instruction_sets_body.h"

}  // namespace

std::span<const RotaryKernels* const> all_rotary_kernels() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const RotaryKernels& rotary_kernels(size_t columns) {
  const std::span<const RotaryKernels* const> all = all_rotary_kernels();
  const auto found = std::ranges::find_if(all, [&](const RotaryKernels* kernels) { return kernels->width <= columns; });
  return found == all.end() ? *all.back() : **found;
}

}  // namespace assay::engine::cpu
