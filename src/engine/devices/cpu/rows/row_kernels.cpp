#include "engine/devices/cpu/rows/row_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

namespace assay::engine::cpu {
namespace {

namespace base {
constexpr size_t kBytes = 16;
#define ASSAY_KERNEL
#include "engine/devices/cpu/rows/row_kernels_body.h"
#undef ASSAY_KERNEL
constexpr RowKernels kKernels = {"base",
                                 maximum,
                                 maximum_signed,
                                 maximum_unsigned,
                                 range,
                                 add,
                                 add_scaled,
                                 scale,
                                 widen,
                                 narrow,
                                 widen_signed,
                                 widen_unsigned,
                                 narrow_byte,
                                 interleave3,
                                 interleave3_bytes,
                                 softmax,
                                 log_softmax,
                                 softmax_block,
                                 dot,
                                 normalize,
                                 greatest_of,
                                 sum,
                                 sum_of_squares,
                                 add_squares,
                                 move_and_scale,
                                 move_and_scale_each};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/rows/row_kernels_body.h"
#undef ASSAY_KERNEL
constexpr RowKernels kKernels = {"avx2",
                                 maximum,
                                 maximum_signed,
                                 maximum_unsigned,
                                 range,
                                 add,
                                 add_scaled,
                                 scale,
                                 widen,
                                 narrow,
                                 widen_signed,
                                 widen_unsigned,
                                 narrow_byte,
                                 interleave3,
                                 interleave3_bytes,
                                 softmax,
                                 log_softmax,
                                 softmax_block,
                                 dot,
                                 normalize,
                                 greatest_of,
                                 sum,
                                 sum_of_squares,
                                 add_squares,
                                 move_and_scale,
                                 move_and_scale_each};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/rows/row_kernels_body.h"
#undef ASSAY_KERNEL
constexpr RowKernels kKernels = {"avx512",
                                 maximum,
                                 maximum_signed,
                                 maximum_unsigned,
                                 range,
                                 add,
                                 add_scaled,
                                 scale,
                                 widen,
                                 narrow,
                                 widen_signed,
                                 widen_unsigned,
                                 narrow_byte,
                                 interleave3,
                                 interleave3_bytes,
                                 softmax,
                                 log_softmax,
                                 softmax_block,
                                 dot,
                                 normalize,
                                 greatest_of,
                                 sum,
                                 sum_of_squares,
                                 add_squares,
                                 move_and_scale,
                                 move_and_scale_each};
}  // namespace avx512
#endif

const RowKernels& find_kernels() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx512) return avx512::kKernels;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::kKernels;
#endif
  return base::kKernels;
}

}  // namespace

const RowKernels& row_kernels() {
  static const RowKernels& kernels = find_kernels();
  return kernels;
}

}  // namespace assay::engine::cpu
