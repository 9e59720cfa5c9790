#include "engine/devices/cpu/tape/tape_kernels.h"

#include <array>
#include <cmath>
#include <vector>

namespace assay::engine::cpu {
namespace {

// Operators that are rare, or exact in the C library.
float scalar(TapeOp op, float x, float p, float q) {
  switch (op) {
    case TapeOp::elu:
      return x < 0 ? p * std::expm1(x) : x;
    case TapeOp::selu:
      return q * (x <= 0 ? p * std::expm1(x) : x);
    case TapeOp::softplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case TapeOp::mish:
      return x * std::tanh(x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)));
    case TapeOp::log:
      return std::log(x);
    case TapeOp::sqrt:
      return std::sqrt(x);
    case TapeOp::floor:
      return std::floor(x);
    case TapeOp::ceil:
      return std::ceil(x);
    default:
      return x;
  }
}

namespace base {
constexpr size_t kBytes = 16;
#define ASSAY_KERNEL
#include "engine/devices/cpu/tape/tape_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TapeKernels kKernels = {"base", binary, unary};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
#include "engine/devices/cpu/tape/tape_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TapeKernels kKernels = {"avx2", binary, unary};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/tape/tape_kernels_body.h"
#undef ASSAY_KERNEL
constexpr TapeKernels kKernels = {"avx512", binary, unary};
}  // namespace avx512
#endif

std::vector<const TapeKernels*> find_kernels() {
  std::vector<const TapeKernels*> found;
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

const std::vector<const TapeKernels*>& known_kernels() {
  static const std::vector<const TapeKernels*> kernels = find_kernels();
  return kernels;
}

}  // namespace

const TapeKernels& tape_kernels() { return *known_kernels().front(); }

const TapeKernels* const* all_tape_kernels(size_t& count) {
  count = known_kernels().size();
  return known_kernels().data();
}

}  // namespace assay::engine::cpu
