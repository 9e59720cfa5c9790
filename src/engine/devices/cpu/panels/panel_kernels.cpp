#include "engine/devices/cpu/panels/panel_kernels.h"

#include <type_traits>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::engine::cpu {
namespace {

namespace base {
constexpr size_t kBytes = 16;
constexpr size_t kMostRows = 1;
#define ASSAY_KERNEL
#include "engine/devices/cpu/vector_math_body.h"
inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) { sum += a * b; }
#include "engine/devices/cpu/panels/panel_kernels_body.h"
#undef ASSAY_KERNEL
constexpr PanelKernels kKernels = {"base", multiply};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
constexpr size_t kMostRows = 3;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
ASSAY_KERNEL inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
  sum = _mm256_fmadd_ps(a, b, sum);
}
#include "engine/devices/cpu/panels/panel_kernels_body.h"
#undef ASSAY_KERNEL
constexpr PanelKernels kKernels = {"avx2", multiply};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
constexpr size_t kMostRows = 8;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
ASSAY_KERNEL inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
  sum = _mm512_fmadd_ps(a, b, sum);
}
#include "engine/devices/cpu/panels/panel_kernels_body.h"
#undef ASSAY_KERNEL
constexpr PanelKernels kKernels = {"avx512", multiply};
}  // namespace avx512
#endif

std::vector<const PanelKernels*> find_kernels() {
  std::vector<const PanelKernels*> found;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx512) found.push_back(&avx512::kKernels);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back(&avx2::kKernels);
#endif
  found.push_back(&base::kKernels);
  return found;
}

const std::vector<const PanelKernels*>& known_kernels() {
  static const std::vector<const PanelKernels*> kernels = find_kernels();
  return kernels;
}

}  // namespace

const PanelKernels& panel_kernels() { return *known_kernels().front(); }

const PanelKernels* const* all_panel_kernels(size_t& count) {
  count = known_kernels().size();
  return known_kernels().data();
}

}  // namespace assay::engine::cpu
