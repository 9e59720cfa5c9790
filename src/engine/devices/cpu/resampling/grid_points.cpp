#include "engine/devices/cpu/resampling/grid_points.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

#define ASSAY_BODY "engine/devices/cpu/resampling/grid_points_body.h"
#include "engine/devices/cpu/instruction_sets_body.h"

}  // namespace

std::span<const GridKernels* const> all_grid_kernels() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const GridKernels& grid_kernels() { return *all_grid_kernels().front(); }

}  // namespace assay::engine::cpu
