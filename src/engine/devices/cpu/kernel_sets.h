#pragma once

#include <vector>

#include "engine/devices/cpu/processor.h"

namespace assay::engine::cpu {

// The loops of one family that this processor can run, best first; null: there are none for these instructions.
template <typename Kernels>
std::vector<const Kernels*> usable_kernels(const Kernels& base, const Kernels* avx2, const Kernels* avx512) {
  std::vector<const Kernels*> usable;
  if (avx512 != nullptr && has_avx512()) usable.push_back(avx512);
  if (avx2 != nullptr && has_avx2()) usable.push_back(avx2);
  usable.push_back(&base);
  return usable;
}

}  // namespace assay::engine::cpu
