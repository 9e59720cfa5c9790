// The loops of depthwise_kernels.h for vectors of kBytes; included by depthwise_kernels.cpp once for each instruction
// set, in a namespace of its own, with ASSAY_KERNEL saying which.

#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/vector_numbers_body.h"

struct Bounds {
  Vector low, high;
};

ASSAY_KERNEL inline void read_bounds(const DepthwiseSpan& s, Bounds& bounds) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  set(bounds.low, s.bounds == nullptr ? -kInfinity : s.bounds[0]);
  set(bounds.high, s.bounds == nullptr ? kInfinity : s.bounds[1]);
}

template <typename Out>
ASSAY_KERNEL inline void give(const Bounds& bounds, Vector& sum, Out* out) {
  choose(sum < bounds.low, bounds.low, sum, sum);
  choose(sum > bounds.high, bounds.high, sum, sum);
  write_numbers(sum, out);
}

ASSAY_KERNEL inline void start(const float* bias, size_t channel, Vector& sum) {
  sum = Vector{};
  if (bias != nullptr) sum = at(bias + channel).lanes;
}

template <typename In>
ASSAY_KERNEL inline void take(const In* from, const Vector& zero, Vector& out) {
  read_numbers(from, out);
  if constexpr (sizeof(In) == 1) out -= zero;
}

// Some results whose windows overlap: each pixel is read once and counts for all of them.
template <typename In, typename Out, size_t kColumns, size_t kStride, size_t kResults>
ASSAY_KERNEL void sum_beside(const DepthwiseSpan& given, size_t first) {
  constexpr size_t kPixels = (kResults - 1) * kStride + kColumns;
  const DepthwiseSpan s = given;  // a copy, of which nothing that is written can be a part
  const In* const in = static_cast<const In*>(s.in) + static_cast<int64_t>(first) * s.advance;
  Out* const out = static_cast<Out*>(s.out) + static_cast<int64_t>(first) * s.out_step;
  Bounds bounds;
  read_bounds(s, bounds);
  Vector zero;
  set(zero, s.zero);
  for (size_t channel = 0; channel < s.channels; channel += kWidth) {
    Vector sums[kResults];
    start(s.bias, channel, sums[0]);
#pragma GCC unroll 16
    for (size_t i = 1; i < kResults; ++i) sums[i] = sums[0];
    const In* line = in + channel;
    const float* weights = s.weights + channel;
    for (size_t y = 0; y < s.lines; ++y, line += s.line_step, weights += s.weights_line) {
      Vector factors[kColumns];
#pragma GCC unroll 16
      for (size_t x = 0; x < kColumns; ++x) factors[x] = at(weights + static_cast<int64_t>(x) * s.weights_pixel).lanes;
#pragma GCC unroll 16
      for (size_t pixel = 0; pixel < kPixels; ++pixel) {
        Vector number;
        take(line + static_cast<int64_t>(pixel) * s.pixel_step, zero, number);
#pragma GCC unroll 16
        for (size_t i = 0; i < kResults; ++i) {
          const size_t x = pixel - i * kStride;
          if (pixel >= i * kStride && x < kColumns) fused(number, factors[x], sums[i], sums[i]);
        }
      }
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < kResults; ++i) give(bounds, sums[i], out + static_cast<int64_t>(i) * s.out_step + channel);
  }
}

// The channels of a vector of results where a channel of the picture has several.
struct Repeated {
  ASSAY_KERNEL explicit Repeated(int64_t times) : shift(std::countr_zero(static_cast<uint64_t>(times))) {
    for (size_t i = 0; i < kWidth; ++i) {
      places[i] = static_cast<int32_t>(i >> shift);
      reads[i] = i <= (kWidth - 1) >> shift ? -1 : 0;
    }
  }
  int shift;  // of a result's channel, to that of the picture
  Bits places, reads;
};

template <typename V, typename Channels>
ASSAY_KERNEL inline void take_repeated(const float* from, const Channels& repeated, V& out) {
  if constexpr (sizeof(V) == 64) {
    const auto read = _mm512_movepi32_mask(reinterpret_cast<__m512i>(repeated.reads));
    const V numbers = _mm512_maskz_loadu_ps(read, from);
    out = _mm512_maskz_permutexvar_ps(kAllLanes, reinterpret_cast<__m512i>(repeated.places), numbers);
  } else if constexpr (sizeof(V) == 32) {
    const V numbers = _mm256_maskload_ps(from, reinterpret_cast<__m256i>(repeated.reads));
    out = _mm256_permutevar8x32_ps(numbers, reinterpret_cast<__m256i>(repeated.places));
  } else {
    for (size_t i = 0; i < kWidth; ++i) out[i] = from[repeated.places[i]];
  }
}

// One result of any window; some vectors at once, from a channel on.
template <typename In, typename Out, size_t kVectors, bool kIsRepeated>
ASSAY_KERNEL [[gnu::always_inline]] inline void sum_window(const DepthwiseSpan& s, const Repeated& repeated,
                                                           const In* in, Out* out, size_t channel) {
  const int shift = kIsRepeated ? repeated.shift : 0;
  Vector sums[kVectors];
  Vector zero;
  set(zero, s.zero);
#pragma GCC unroll 16
  for (size_t v = 0; v < kVectors; ++v) start(s.bias, channel + v * kWidth, sums[v]);
  for (size_t y = 0; y < s.lines; ++y) {
    const In* pixel = in + static_cast<int64_t>(y) * s.line_step;
    const float* factors = s.weights + static_cast<int64_t>(y) * s.weights_line + channel;
    for (size_t x = 0; x < s.columns; ++x, pixel += s.pixel_step, factors += s.weights_pixel) {
#pragma GCC unroll 16
      for (size_t v = 0; v < kVectors; ++v) {
        Vector number, factor;
        const In* const from = pixel + ((channel + v * kWidth) >> shift);
        if constexpr (kIsRepeated)
          take_repeated(from, repeated, number);
        else
          take(from, zero, number);
        read_numbers(factors + v * kWidth, factor);
        fused(number, factor, sums[v], sums[v]);
      }
    }
  }
  Bounds bounds;
  read_bounds(s, bounds);
#pragma GCC unroll 16
  for (size_t v = 0; v < kVectors; ++v) give(bounds, sums[v], out + channel + v * kWidth);
}

template <typename In, typename Out, bool kIsRepeated>
ASSAY_KERNEL void sum_each(const DepthwiseSpan& given, size_t first) {
  constexpr size_t kVectors = 4;
  const DepthwiseSpan s = given;
  const Repeated repeated(kIsRepeated ? s.repeat : 1);
  for (size_t i = first; i < s.results; ++i) {
    const In* const in = static_cast<const In*>(s.in) + static_cast<int64_t>(i) * s.advance;
    Out* const out = static_cast<Out*>(s.out) + static_cast<int64_t>(i) * s.out_step;
    size_t channel = 0;
    for (; channel + kVectors * kWidth <= s.channels; channel += kVectors * kWidth)
      sum_window<In, Out, kVectors, kIsRepeated>(s, repeated, in, out, channel);
    for (; channel < s.channels; channel += kWidth) sum_window<In, Out, 1, kIsRepeated>(s, repeated, in, out, channel);
  }
}

constexpr size_t kSide = 3;

ASSAY_KERNEL [[gnu::always_inline]] inline void read_square(const DepthwiseSpan& s, size_t channel,
                                                            Vector (&factors)[kSide][kSide]) {
#pragma GCC unroll 16
  for (size_t i = 0; i < kSide * kSide; ++i) {
    const auto line = static_cast<int64_t>(i / kSide);
    const auto column = static_cast<int64_t>(i % kSide);
    factors[line][column] = at(s.weights + line * s.weights_line + column * s.weights_pixel + channel).lanes;
  }
}

// Results of two lines, of numbers that are no codes: each pixel counts for both.
template <typename In, typename Out, size_t kStride, size_t kResults>
ASSAY_KERNEL void sum_square(const DepthwiseSpan& given, size_t first) {
  constexpr size_t kPixels = (kResults - 1) * kStride + kSide;
  const DepthwiseSpan s = given;
  const In* const in = static_cast<const In*>(s.in) + static_cast<int64_t>(first) * s.advance;
  Out* const out = static_cast<Out*>(s.out) + static_cast<int64_t>(first) * s.out_step;
  Bounds bounds;
  read_bounds(s, bounds);
  for (size_t channel = 0; channel < s.channels; channel += kWidth) {
    Vector factors[kSide][kSide];
    read_square(s, channel, factors);
    Vector sums[2][kResults];
    start(s.bias, channel, sums[0][0]);
#pragma GCC unroll 16
    for (size_t i = 1; i < 2 * kResults; ++i) sums[i / kResults][i % kResults] = sums[0][0];
    const In* line = in + channel;
#pragma GCC unroll 16
    for (size_t y = 0; y < kSide + kStride; ++y, line += s.line_step) {
      if (y < s.first_line || y >= s.end_line) continue;
#pragma GCC unroll 16
      for (size_t pixel = 0; pixel < kPixels; ++pixel) {
        Vector number;
        read_numbers(line + static_cast<int64_t>(pixel) * s.pixel_step, number);
#pragma GCC unroll 16
        for (size_t i = 0; i < 2 * kResults; ++i) {
          const size_t row = y - i / kResults * kStride;
          const size_t x = pixel - i % kResults * kStride;
          Vector& sum = sums[i / kResults][i % kResults];
          if (row < kSide && x < kSide) fused(number, factors[row][x], sum, sum);
        }
      }
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < 2 * kResults; ++i) {
      Out* const to = out + static_cast<int64_t>(i / kResults) * s.out_line +
                      static_cast<int64_t>(i % kResults) * s.out_step + channel;
      give(bounds, sums[i / kResults][i % kResults], to);
    }
  }
}

template <typename In, typename Out, size_t kColumns, size_t kStride, size_t kResults>
ASSAY_KERNEL void sum_some(const DepthwiseSpan& s, size_t first, size_t count) {
  if (count == kResults) {
    if constexpr (kColumns == 3 && sizeof(In) > 1) {
      if (s.are_squares) return sum_square<In, Out, kStride, kResults>(s, first);
    }
    return sum_beside<In, Out, kColumns, kStride, kResults>(s, first);
  }
  if constexpr (kResults > 1) sum_some<In, Out, kColumns, kStride, kResults - 1>(s, first, count);
}

// In parts of as equally many as can be.
template <typename In, typename Out, size_t kColumns, size_t kStride, size_t kMost>
ASSAY_KERNEL void sum_all(const DepthwiseSpan& s) {
  const size_t count = (s.results + kMost - 1) / kMost;
  for (size_t i = 0; i < count; ++i) {
    const size_t first = i * s.results / count;
    sum_some<In, Out, kColumns, kStride, kMost>(s, first, (i + 1) * s.results / count - first);
  }
}

template <typename In, typename Out>
ASSAY_KERNEL void run_types(const DepthwiseSpan& s) {
  if constexpr (std::is_same_v<In, float>) {
    if (s.repeat > 1) return sum_each<In, Out, true>(s, 0);
  }
  if (s.results > 1 && s.columns == 3 && s.advance == s.pixel_step) return sum_all<In, Out, 3, 1, 6>(s);
  if (s.results > 1 && s.columns == 3 && s.advance == 2 * s.pixel_step) return sum_all<In, Out, 3, 2, 4>(s);
  if (s.results > 1 && s.columns == 5 && s.advance == s.pixel_step) return sum_all<In, Out, 5, 1, 6>(s);
  if (s.results > 1 && s.columns == 5 && s.advance == 2 * s.pixel_step) return sum_all<In, Out, 5, 2, 4>(s);
  sum_each<In, Out, false>(s, 0);
}

ASSAY_KERNEL void run(DepthwiseTypes types, const DepthwiseSpan& span) {
  switch (types) {
    case DepthwiseTypes::floats:
      return run_types<float, float>(span);
    case DepthwiseTypes::halves:
      return run_types<uint16_t, uint16_t>(span);
    case DepthwiseTypes::halves_to_floats:
      return run_types<uint16_t, float>(span);
    case DepthwiseTypes::signed_to_sums:
      return run_types<int8_t, int32_t>(span);
    case DepthwiseTypes::unsigned_to_sums:
      return run_types<uint8_t, int32_t>(span);
  }
}

constexpr DepthwiseKernels kKernels = {kName, kWidth, run};
