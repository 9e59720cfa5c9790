#pragma once

#include <span>

#include "engine/devices/cpu/tape/tape_kernels.h"

namespace assay::engine::cpu {

// Functions of which a bfloat16 is made: that may be off by 2^-8 of itself, they are by less than 2^-12. For one
// instruction set.
struct CoarseKernels {
  const char* name;
  void (*to_floats)(ElementOp op, TapeView a, TapeTarget out);
  void (*to_bfloat16)(ElementOp op, TapeView a, TapeRowsOf<uint16_t> out);
};

// The best that this processor has.
const CoarseKernels& coarse_kernels();
// All that this processor has, for tests.
std::span<const CoarseKernels* const> all_coarse_kernels();

}  // namespace assay::engine::cpu
