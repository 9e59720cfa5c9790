#include "engine/devices/cpu/tape/tape_kernels.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"
#include "engine/devices/cpu/tape/erf_intervals.h"

namespace assay::engine::cpu {
namespace {

// The function of numbers that are too far from zero for the loops.
float scalar(ElementOp op, float x) {
  switch (op) {
    case ElementOp::sine:
      return std::sin(x);
    case ElementOp::cosine:
      return std::cos(x);
    default:
      return x;
  }
}

#define ASSAY_BODY "engine/devices/cpu/tape/tape_kernels_body.h"
#include "engine/devices/cpu/instruction_sets_body.h"

}  // namespace

std::span<const TapeKernels* const> all_tape_kernels() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const TapeKernels& tape_kernels() { return *all_tape_kernels().front(); }

}  // namespace assay::engine::cpu
