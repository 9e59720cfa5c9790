#include "engine/devices/cpu/winograd/transforms.h"

#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/kernel_sets.h"

namespace assay::engine::cpu {
namespace {

// Each body stands on those before it.
namespace base {
constexpr size_t kBytes = 16;
#define ASSAY_KERNEL
// clang-format off
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/float_words_body.h"
#include "engine/devices/cpu/winograd/transforms_body.h"
// clang-format on
#undef ASSAY_KERNEL
constexpr WinogradTransforms kTransforms = {"base", kLoops};
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
constexpr size_t kBytes = 32;
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
// clang-format off
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/float_words_body.h"
#include "engine/devices/cpu/winograd/transforms_body.h"
// clang-format on
#undef ASSAY_KERNEL
constexpr WinogradTransforms kTransforms = {"avx2", kLoops};
}  // namespace avx2

namespace avx512 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
// clang-format off
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/float_words_body.h"
#include "engine/devices/cpu/winograd/transforms_body.h"
// clang-format on
#undef ASSAY_KERNEL
constexpr WinogradTransforms kTransforms = {"avx512", kLoops};
}  // namespace avx512

namespace avx512_bf16 {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma")]]
// clang-format off
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/pair_words_body.h"
#include "engine/devices/cpu/winograd/transforms_body.h"
// clang-format on
#undef ASSAY_KERNEL
}  // namespace avx512_bf16
#endif

// The polynomial of the taps at each point, divided by what the data's terms have too much.
template <typename Line>
void line_of_weights(const double* weights, size_t step, double* terms, size_t out_step) {
  constexpr size_t kTaps = Line::kStride == 1 ? 3 : 2;
  const size_t tap_step = Line::kStride * step;
  const auto at = [&](double point) {
    double sum = 0;
    for (size_t tap = kTaps; tap-- > 0;) sum = sum * point + weights[tap * tap_step];
    return sum;
  };
  for (size_t i = 0; i < Line::kPoints.size(); ++i) {
    const double point = Line::kPoints[i];
    double divisor = 2 * (Line::kZeros > 0 ? point * point : point);
    for (const double other : Line::kPoints) {
      if (other != point) divisor *= point * point - other * other;
    }
    terms[(Line::kZeros + 2 * i) * out_step] = at(point) / divisor;
    terms[(Line::kZeros + 2 * i + 1) * out_step] = at(-point) / (Line::kZeros > 0 ? divisor : -divisor);
  }
  if (Line::kZeros > 0) {
    double divisor = 1;
    for (const double point : Line::kPoints) divisor *= -point * point;
    terms[0] = weights[0] / divisor;
  }
  terms[(Line::kPointTerms - 1) * out_step] = weights[2 * step];
  for (size_t i = Line::kPointTerms; i < Line::kSide; ++i) terms[i * out_step] = weights[step];
}

template <typename... Lines>
std::array<WinogradForm, sizeof...(Lines)> forms_of(const std::tuple<Lines...>*) {
  size_t index = 0;
  return {WinogradForm{index++, Lines::kStride, Lines::kOut, Lines::kSide, line_of_weights<Lines>}...};
}

}  // namespace

const std::array<WinogradForm, kWinogradForms>& winograd_forms() {
  static const auto forms = forms_of(static_cast<const WinogradLines*>(nullptr));
  return forms;
}

std::span<const WinogradTransforms* const> all_winograd_transforms() {
  static const auto kernels = ASSAY_USABLE_KERNELS(kTransforms);
  return kernels;
}

const WinogradTransforms& winograd_transforms() { return *all_winograd_transforms().front(); }

const WinogradLoopsOfForms<uint16_t>* winograd_half_loops() {
#if defined(__x86_64__)
  static const bool has_halves = has_avx512_bf16();
  return has_halves ? &avx512_bf16::kLoops : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace assay::engine::cpu
