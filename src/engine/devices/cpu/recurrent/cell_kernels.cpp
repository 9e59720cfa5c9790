#include "engine/devices/cpu/recurrent/cell_kernels.h"

#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

#define ASSAY_BODY "engine/devices/cpu/recurrent/cell_kernels_body.h"
#include "engine/devices/cpu/instruction_sets_body.h"

}  // namespace

std::span<const CellKernels* const> all_cell_kernels() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const CellKernels& cell_kernels() { return *all_cell_kernels().front(); }

}  // namespace assay::engine::cpu
