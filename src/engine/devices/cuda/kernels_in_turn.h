#pragma once

#include <memory>
#include <vector>

#include "engine/device/kernel.h"
#include "engine/devices/cuda/programs.h"
#include "engine/layers/layer_part.h"

namespace assay::engine::cuda {

// A part of a layer with its kernel.
struct KernelOfPart {
  struct Input {
    int of_layer = LayerPart::kMadeBefore;  // or what the part before gives
    uint64_t offset = 0;                    // bytes
  };
  std::unique_ptr<Kernel> kernel;
  std::vector<Input> inputs;
  uint64_t result_bytes = 0;  // of what it gives to the part behind it
};
// Inputs as the part has them.
std::vector<KernelOfPart::Input> inputs_of(const LayerPart& part);

// Kernels of parts one after the other: each but the last gives its result to the next one, through the workspace.
// Null: a part has no kernel.
std::unique_ptr<Kernel> in_turn(std::vector<KernelOfPart> parts);

// The kernel that is the first choice for a part; null: none computes it.
std::unique_ptr<Kernel> first_kernel(Programs& programs, const Layer& layer);

}  // namespace assay::engine::cuda
