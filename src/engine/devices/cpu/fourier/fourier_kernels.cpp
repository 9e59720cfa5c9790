#include "engine/devices/cpu/fourier/fourier_kernels.h"

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

#define ASSAY_BODY "engine/devices/cpu/fourier/fourier_kernels_body.h"
#include "engine/devices/cpu/instruction_sets_body.h"

}  // namespace

std::span<const FourierKernels* const> all_fourier_kernels() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const FourierKernels& fourier_kernels() { return *all_fourier_kernels().front(); }

}  // namespace assay::engine::cpu
