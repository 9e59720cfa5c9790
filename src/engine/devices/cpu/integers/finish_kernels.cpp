#include "engine/devices/cpu/integers/finish_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

constexpr float kMostWhole = 2147483520.0F;  // of what fits into 32 bits

namespace base {

float number_at(NumberType type, const void* numbers, int64_t index) {
  if (type == NumberType::int8) return static_cast<float>(static_cast<const int8_t*>(numbers)[index]);
  if (type == NumberType::uint8) return static_cast<float>(static_cast<const uint8_t*>(numbers)[index]);
  return static_cast<const float*>(numbers)[index];
}

float stepped(const FinishStep& step, float x, int64_t element) {
  if (step.op == FinishOp::add) return x + number_at(step.type, step.added, element) * step.factor + step.offset;
  if (step.op == FinishOp::gelu) {
    constexpr float kRootOfHalf = 0.707106781186547524F;
    const float given = x * step.unit;
    return 0.5F * given * (1 + std::erf(given * kRootOfHalf)) * step.factor;
  }
  if (step.op == FinishOp::requantise) x = std::nearbyint(x * step.unit);
  x = x < step.least ? step.least : x;
  x = x > step.greatest ? step.greatest : x;
  return step.op == FinishOp::requantise ? x * step.factor + step.offset : x;
}

void write(const FinishRows& rows, float x, int64_t element) {
  if (rows.type == NumberType::float32) {
    static_cast<float*>(rows.out)[element] = x;
    return;
  }
  const float whole = std::nearbyint(x) + static_cast<float>(rows.zero);
  const float least = rows.type == NumberType::int8 ? -128 : 0;
  const float code = whole > least ? std::min(whole, least + 255) : least;  // the least one for NaN
  if (rows.type == NumberType::int8)
    static_cast<int8_t*>(rows.out)[element] = static_cast<int8_t>(code);
  else
    static_cast<uint8_t*>(rows.out)[element] = static_cast<uint8_t>(code);
}

void finish(const FinishRows& rows) {
  for (size_t r = 0; r < rows.rows; ++r) {
    const int32_t* const sums = rows.sums + static_cast<int64_t>(r) * rows.sums_row;
    for (size_t c = 0; c < rows.channels; ++c) {
      const int64_t element = static_cast<int64_t>(r) * rows.out_row + static_cast<int64_t>(c);
      float x = static_cast<float>(sums[c]) * rows.factors[c] + rows.bias[c];
      for (size_t i = 0; i < rows.step_count; ++i) x = stepped(rows.steps[i], x, element);
      write(rows, x, element);
    }
  }
}

constexpr FinishKernels kKernels = {"base", finish};
}  // namespace base

#if defined(__x86_64__)
namespace avx512 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/integers/finish_rows_body.h"
#undef ASSAY_KERNEL
constexpr FinishKernels kKernels = {"avx512", finish};
}  // namespace avx512
#endif

const std::vector<const FinishKernels*>& known_kernels() {
#if defined(__x86_64__)
  static const auto kernels = usable_kernels<FinishKernels>(base::kKernels, nullptr, &avx512::kKernels);
#else
  static const auto kernels = usable_kernels<FinishKernels>(base::kKernels, nullptr, nullptr);
#endif
  return kernels;
}

void copy_sums(const FinishRows& rows) {
  for (size_t r = 0; r < rows.rows; ++r) {
    std::memcpy(static_cast<int32_t*>(rows.out) + static_cast<int64_t>(r) * rows.out_row,
                rows.sums + static_cast<int64_t>(r) * rows.sums_row, rows.channels * sizeof(int32_t));
  }
}

}  // namespace

void finish_rows(const FinishRows& rows) {
  rows.type == NumberType::int32 ? copy_sums(rows) : known_kernels().front()->finish(rows);
}

const FinishKernels* const* all_finish_kernels(size_t& count) {
  count = known_kernels().size();
  return known_kernels().data();
}

}  // namespace assay::engine::cpu
