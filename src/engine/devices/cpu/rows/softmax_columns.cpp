#include "engine/devices/cpu/rows/softmax_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

#define ASSAY_BODY "engine/devices/cpu/rows/softmax_columns_body.h"
#include "engine/devices/cpu/instruction_sets_body.h"

}  // namespace

std::span<const SoftmaxColumns* const> all_softmax_columns() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const SoftmaxColumns& softmax_columns() { return *all_softmax_columns().front(); }

}  // namespace assay::engine::cpu
