#include "engine/devices/cpu/winograd/exact_forms.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/processor.h"

namespace assay::engine::cpu {
namespace {

// The points 0, 1, -1, 2, -2 and infinity. Terms of weights lack the factors 1/4, -1/6, -1/6, 1/24, 1/24 and 1; 24 is
// their common denominator in a direction, and what it has that is odd is divided by modulo 2^32.
struct FourByFour {
  static constexpr size_t kOut = 4, kSide = 6;
  static constexpr int kShift = 6;
  static constexpr uint32_t kInverse = 954437177;  // of 9

  static void weights(const double* w, size_t step, double* t, size_t out_step) {
    const double ends = w[0] + w[2 * step], far = w[0] + 4 * w[2 * step], middle = w[step];
    const double terms[] = {w[0], ends + middle, ends - middle, far + 2 * middle, far - 2 * middle, w[2 * step]};
    for (size_t i = 0; i < kSide; ++i) t[i * out_step] = terms[i];
  }
  template <typename V>
  [[gnu::always_inline]] static void in(const V* d, V* t, size_t step) {
    const V even = d[4] - 4 * d[2], odd = d[3] - 4 * d[1];
    const V near = d[4] - d[2], twice = 2 * (d[3] - d[1]);
    t[0] = 4 * d[0] - 5 * d[2] + d[4];
    t[step] = even + odd;
    t[2 * step] = even - odd;
    t[3 * step] = near + twice;
    t[4 * step] = near - twice;
    t[5 * step] = 4 * d[1] - 5 * d[3] + d[5];
  }
  template <typename V>
  [[gnu::always_inline]] static void out(const V* t, V* y) {
    const V ones = 4 * (t[1] + t[2]), minus_ones = 4 * (t[1] - t[2]), twos = t[3] + t[4], minus_twos = t[3] - t[4];
    y[0] = 6 * t[0] - ones + twos;
    y[1] = 2 * minus_twos - minus_ones;
    y[2] = 4 * twos - ones;
    y[3] = 8 * minus_twos - minus_ones + 24 * t[5];
  }
};

// The points 0, 1, -1 and infinity. Terms of weights lack the factors 1, 1/2, 1/2 and 1.
struct TwoByTwo {
  static constexpr size_t kOut = 2, kSide = 4;
  static constexpr int kShift = 2;
  static constexpr uint32_t kInverse = 1;

  static void weights(const double* w, size_t step, double* t, size_t out_step) {
    const double ends = w[0] + w[2 * step], middle = w[step];
    const double terms[] = {w[0], ends + middle, ends - middle, w[2 * step]};
    for (size_t i = 0; i < kSide; ++i) t[i * out_step] = terms[i];
  }
  template <typename V>
  [[gnu::always_inline]] static void in(const V* d, V* t, size_t step) {
    t[0] = d[0] - d[2];
    t[step] = d[1] + d[2];
    t[2 * step] = d[2] - d[1];
    t[3 * step] = d[3] - d[1];
  }
  template <typename V>
  [[gnu::always_inline]] static void out(const V* t, V* y) {
    y[0] = 2 * t[0] + t[1] + t[2];
    y[1] = t[1] - t[2] + 2 * t[3];
  }
};

#if defined(__x86_64__)
#define ASSAY_KERNEL [[gnu::target("avx2")]]

using Terms [[gnu::vector_size(32), gnu::may_alias]] = int16_t;
using Sums [[gnu::vector_size(32), gnu::may_alias]] = uint32_t;
using Whole [[gnu::vector_size(32), gnu::may_alias]] = int32_t;

ASSAY_KERNEL inline void read(const std::byte* codes, bool are_signed, Terms& out) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
  out = reinterpret_cast<Terms>(are_signed ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes));
}

template <typename Form>
ASSAY_KERNEL void in(const std::byte* const* pixels, bool are_signed, int16_t* terms, size_t stride, size_t channels) {
  constexpr size_t kSide = Form::kSide;
  constexpr size_t kAtOnce = 16;
  Terms line[kSide];
  Terms lines[kSide * kSide];
  for (size_t c = 0; c < channels; c += kAtOnce) {
    for (size_t x = 0; x < kSide; ++x) {
#pragma GCC unroll 8
      for (size_t y = 0; y < kSide; ++y) read(pixels[y * kSide + x] + c, are_signed, line[y]);
      Form::in(line, lines + x, kSide);
    }
    for (size_t y = 0; y < kSide; ++y) {
      Form::in(lines + y * kSide, line, 1);
#pragma GCC unroll 8
      for (size_t x = 0; x < kSide; ++x) std::memcpy(terms + (y * kSide + x) * stride + c, &line[x], sizeof(Terms));
    }
  }
}

template <typename Form>
ASSAY_KERNEL void out(const ExactLoops::Out& given) {
  constexpr size_t kSide = Form::kSide;
  constexpr size_t kOut = Form::kOut;
  constexpr size_t kAtOnce = 8;
  Sums line[kSide], made[kOut];
  Sums lines[kOut * kSide];
  for (size_t c = 0; c < given.columns; c += kAtOnce) {
    for (size_t x = 0; x < kSide; ++x) {
#pragma GCC unroll 8
      for (size_t y = 0; y < kSide; ++y)
        std::memcpy(&line[y], given.terms + (y * kSide + x) * given.stride + c, sizeof(Sums));
      Form::out(line, made);
#pragma GCC unroll 8
      for (size_t y = 0; y < kOut; ++y) lines[y * kSide + x] = made[y];
    }
    Whole start;
    std::memcpy(&start, given.starts + c, sizeof(start));
    for (size_t y = 0; y < kOut; ++y) {
      Form::out(lines + y * kSide, made);
#pragma GCC unroll 8
      for (size_t x = 0; x < kOut; ++x) {
        const Whole sum = (reinterpret_cast<Whole>(made[x] * Form::kInverse) >> Form::kShift) + start;
        std::memcpy(given.sums + y * given.line + x * given.pixel + c, &sum, sizeof(sum));
      }
    }
  }
}

#undef ASSAY_KERNEL

constexpr std::array<ExactLoops, 2> kLoops = {
    ExactLoops{FourByFour::kShift, in<FourByFour>, out<FourByFour>},
    ExactLoops{TwoByTwo::kShift, in<TwoByTwo>, out<TwoByTwo>},
};
#endif

}  // namespace

const std::array<WinogradForm, 2>& exact_forms() {
  constexpr double kReading = 8;
  static const std::array<WinogradForm, 2> forms = {
      WinogradForm{0, 1, FourByFour::kOut, FourByFour::kSide, FourByFour::weights, kReading},
      WinogradForm{1, 1, TwoByTwo::kOut, TwoByTwo::kSide, TwoByTwo::weights, kReading},
  };
  return forms;
}

const std::array<ExactLoops, 2>* exact_loops() {
#if defined(__x86_64__)
  return has_avx2() ? &kLoops : nullptr;
#else
  return nullptr;
#endif
}

bool fits_exactly(const ExactLoops& loops, const tensor::Tensor& weights, bool are_signed) {
  const int64_t least = are_signed ? -128 : 0;
  const int64_t greatest = are_signed ? 127 : 255;
  const int64_t bound = int64_t{1} << (31 - loops.shift);
  const auto* const codes = reinterpret_cast<const int8_t*>(weights.bytes().data());
  const auto depth = static_cast<size_t>(weights.shape()[1]) * 9;
  for (size_t i = 0; i < weights.count(); i += depth) {
    int64_t low = 0, high = 0;
    for (size_t k = i; k < i + depth; ++k) {
      low += codes[k] * (codes[k] > 0 ? least : greatest);
      high += codes[k] * (codes[k] > 0 ? greatest : least);
    }
    if (low < -bound || high >= bound) return false;
  }
  return true;
}

}  // namespace assay::engine::cpu
