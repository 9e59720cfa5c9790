#pragma once

#include "engine/devices/cuda/generate/element_site.h"

namespace assay::engine::cuda {

// Computes a result element by element, operands broadcast to it; nullopt: one does not, or the result is too large.
std::optional<Launch> element_launch(Programs& programs, const ElementText& text,
                                     const std::vector<ElementOperand>& operands, const ElementOperand& result);

// Threads of a block of such kernels, and blocks for so many threads.
inline constexpr unsigned kElementThreads = 256;
unsigned blocks_of(int64_t threads);

}  // namespace assay::engine::cuda
