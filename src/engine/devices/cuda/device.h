#pragma once

#include <memory>
#include <vector>

#include "base/registered.h"
#include "engine/device/device.h"
#include "engine/devices/cuda/programs.h"

namespace assay::engine::cuda {

using Implementations = std::vector<std::unique_ptr<Implementation>>;

struct KernelFamily {
  Implementations (*make)(Programs& programs) = nullptr;  // best first
};

// A family of these implementations, best first.
template <typename... All>
KernelFamily family_of() {
  return {[](Programs& programs) {
    Implementations all;
    (all.push_back(std::make_unique<All>(programs)), ...);
    return all;
  }};
}

// Every src/engine/devices/cuda/kernels/<family>.cpp defines `KernelFamily cuda_kernel_<family>()`.
std::span<const Registered<KernelFamily>> registered_kernels();

// A card with the programs that run on it.
std::unique_ptr<Device> make_device(std::shared_ptr<const Card> card, const Compiler& compiler, CubinCache cache);

}  // namespace assay::engine::cuda
