#include "engine/devices/cpu/depthwise/depthwise_kernels.h"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

namespace lone {
constexpr const char* kName = "lone";
constexpr size_t kBytes = 4;
#define ASSAY_KERNEL
#include "engine/devices/cpu/depthwise/depthwise_kernels_body.h"
#undef ASSAY_KERNEL
}  // namespace lone

#define ASSAY_BODY "engine/devices/cpu/depthwise/depthwise_kernels_body.h"
#include "engine/devices/cpu/instruction_sets_body.h"

std::vector<const DepthwiseKernels*> known_kernels() {
  std::vector<const DepthwiseKernels*> kernels = ASSAY_USABLE_KERNELS(kKernels);
  kernels.push_back(&lone::kKernels);
  return kernels;
}

}  // namespace

DepthwiseSpan DepthwiseSpan::from(int64_t channel, int64_t in_bytes, int64_t out_bytes) const {
  DepthwiseSpan moved = *this;
  moved.in = static_cast<const std::byte*>(in) + channel / repeat * in_bytes;
  moved.weights += channel;
  if (bias != nullptr) moved.bias += channel;
  moved.out = static_cast<std::byte*>(out) + channel * out_bytes;
  return moved;
}

std::span<const DepthwiseKernels* const> depthwise_kernels() {
  static const std::vector<const DepthwiseKernels*> kernels = known_kernels();
  return kernels;
}

}  // namespace assay::engine::cpu
