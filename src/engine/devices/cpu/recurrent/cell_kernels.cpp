#include "engine/devices/cpu/recurrent/cell_kernels.h"

#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

namespace base {
constexpr size_t kBytes = 16;
#define ASSAY_KERNEL
#include "engine/devices/cpu/recurrent/cell_kernels_body.h"
#undef ASSAY_KERNEL
constexpr CellKernels kKernels = {rnn, gru_gates, gru, lstm};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/recurrent/cell_kernels_body.h"
#undef ASSAY_KERNEL
constexpr CellKernels kKernels = {rnn, gru_gates, gru, lstm};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/recurrent/cell_kernels_body.h"
#undef ASSAY_KERNEL
constexpr CellKernels kKernels = {rnn, gru_gates, gru, lstm};
}  // namespace avx512
#endif

}  // namespace

std::span<const CellKernels* const> all_cell_kernels() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kKernels);
  return kernels;
}

const CellKernels& cell_kernels() { return *all_cell_kernels().front(); }

}  // namespace assay::engine::cpu
