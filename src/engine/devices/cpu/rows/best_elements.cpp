#include "engine/devices/cpu/rows/best_elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

#define ASSAY_BODY "engine/devices/cpu/rows/best_elements_body.h"
#include "engine/devices/cpu/instruction_sets_body.h"

}  // namespace

std::span<const BestElements* const> all_best_elements() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const BestElements& best_elements() { return *all_best_elements().front(); }

}  // namespace assay::engine::cpu
