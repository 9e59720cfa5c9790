#pragma once

#include <vector>

#include "engine/devices/cpu/processor.h"

namespace assay::engine::cpu {

// The loops of one family that this processor can run, best first; null: there are none for these instructions.
template <typename Kernels>
std::vector<const Kernels*> usable_kernels(const Kernels& base, const Kernels* avx2 = nullptr,
                                           const Kernels* avx512 = nullptr) {
  std::vector<const Kernels*> usable;
  if (avx512 != nullptr && has_avx512()) usable.push_back(avx512);
  if (avx2 != nullptr && has_avx2()) usable.push_back(avx2);
  usable.push_back(&base);
  return usable;
}

// The usable ones of the loops that each of the namespaces base, avx2 and avx512 of a source file has under this name.
#if defined(__x86_64__)
#define ASSAY_USABLE_KERNELS(kernels) usable_kernels(base::kernels, &avx2::kernels, &avx512::kernels)
#else
#define ASSAY_USABLE_KERNELS(kernels) usable_kernels(base::kernels)
#endif

}  // namespace assay::engine::cpu
