#include "engine/devices/cpu/recurrent/cell_kernels.h"

#include <limits>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/processor.h"

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

std::vector<const CellKernels*> find_kernels() {
  std::vector<const CellKernels*> found;
#if defined(__x86_64__)
  if (has_avx512()) found.push_back(&avx512::kKernels);
  if (has_avx2()) found.push_back(&avx2::kKernels);
#endif
  found.push_back(&base::kKernels);
  return found;
}

const std::vector<const CellKernels*>& known_kernels() {
  static const std::vector<const CellKernels*> kernels = find_kernels();
  return kernels;
}

}  // namespace

const CellKernels& cell_kernels() { return *known_kernels().front(); }

const CellKernels* const* all_cell_kernels(size_t& count) {
  count = known_kernels().size();
  return known_kernels().data();
}

}  // namespace assay::engine::cpu
