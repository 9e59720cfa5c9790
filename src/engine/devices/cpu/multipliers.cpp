#include "engine/devices/cpu/multipliers.h"

#include <algorithm>
#include <chrono>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/processor.h"

namespace assay::engine::cpu {
namespace {

#if defined(__x86_64__)

#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]

using Whole [[gnu::vector_size(64)]] = float;
using Half [[gnu::vector_size(32)]] = float;

// Multiply-adds of which none waits for another; one of the sums.
template <typename Vector>
ASSAY_KERNEL [[gnu::noinline]] float multiply() {
  constexpr int kSums = 12, kTurns = 500;
  const Vector factor = Vector{} + 0.5F;
  Vector sums[kSums] = {};
  for (int turn = 0; turn < kTurns; ++turn) {
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) {
      sums[i] = sums[i] * factor + factor;
      asm volatile("" : "+v"(sums[i]));
    }
  }
  for (int i = 1; i < kSums; ++i) sums[0] += sums[i];
  return sums[0][0];
}
#undef ASSAY_KERNEL

// The least time of several calls, in seconds.
double least_time(float (*fn)()) {
  constexpr int kCalls = 20;
  double least = 1;
  [[maybe_unused]] volatile float kept = 0;
  for (int i = 0; i < kCalls; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    kept = fn();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return least;
}

bool find_whole_multipliers() {
  constexpr double kLonger = 1.5;  // than half of it; halves would take twice as long
  return has_avx512() && least_time(multiply<Whole>) < kLonger * least_time(multiply<Half>);
}

#else

bool find_whole_multipliers() { return false; }

#endif

}  // namespace

bool has_whole_multipliers() {
  static const bool has = find_whole_multipliers();
  return has;
}

}  // namespace assay::engine::cpu
