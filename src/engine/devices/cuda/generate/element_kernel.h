#pragma once

#include <span>

#include "engine/devices/cuda/generate/element_site.h"

namespace assay::engine::cuda {

// A result that is computed element by element, operands broadcast to it.
struct ElementResult {
  ElementText text;
  std::vector<ElementOperand> operands;
  ElementOperand result;
};

// Computes results that do not depend on each other; nullopt: an operand does not broadcast, or a result is too large.
std::optional<Launch> element_launch(Programs& programs, std::span<const ElementResult> results);
std::optional<Launch> element_launch(Programs& programs, ElementText text, std::vector<ElementOperand> operands,
                                     const ElementOperand& result);

// Threads of a block of such kernels, and blocks for so many threads.
inline constexpr unsigned kElementThreads = 256;
unsigned blocks_of(int64_t threads);

}  // namespace assay::engine::cuda
