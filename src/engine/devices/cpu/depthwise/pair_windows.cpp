#include "engine/devices/cpu/depthwise/pair_windows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/depthwise/code_windows.h"
#include "engine/devices/cpu/processor.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kMostLines = 8;
constexpr size_t kColumns = 3;

#if defined(__x86_64__)
#define ASSAY_KERNEL [[gnu::target("avx2,fma")]]
constexpr size_t kBytes = 32;
// clang-format off
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/integers/finish_octets_body.h"
// clang-format on

constexpr size_t kMostBeside = 8;  // results
constexpr size_t kMostPixels = 2 * kMostBeside + kColumns - 1;

// The places of the codes of pixels, in each line of windows, for the first channel.
struct PairPlaces {
  const std::byte* at[kMostLines][kMostPixels];
};

ASSAY_KERNEL inline __m256i words_at(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
ASSAY_KERNEL inline void add_products(const __m256i& a, const __m256i& b, __m256i& sum) {
  sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}

// Weights of eight channels in a line, as words of the columns 0 and 1, 1 and 2, 2 alone, and 0 alone, as the second.
struct PairWeights {
  __m256i first, rest, last, late;
};
ASSAY_KERNEL [[gnu::always_inline]] inline void read_weights(const std::byte* from, int64_t line, PairWeights& out) {
  out.first = words_at(from);
  out.rest = words_at(from + line / 2);
  out.last = _mm256_srli_epi32(out.rest, 16);
  out.late = _mm256_slli_epi32(out.first, 16);
}

// Eight codes of two pixels; or as many as there are.
template <bool kAreSigned, bool kAreFew>
ASSAY_KERNEL [[gnu::always_inline]] inline void read_word(const std::byte* a, const std::byte* b, size_t count,
                                                          __m256i& out) {
  uint64_t few[2] = {};
  if constexpr (kAreFew) {
    std::memcpy(few, a, count);
    std::memcpy(few + 1, b, count);
    a = reinterpret_cast<const std::byte*>(few);
    b = reinterpret_cast<const std::byte*>(few + 1);
  }
  const __m128i codes = _mm_unpacklo_epi8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(a)),
                                          _mm_loadl_epi64(reinterpret_cast<const __m128i*>(b)));
  out = kAreSigned ? _mm256_cvtepi8_epi16(codes) : _mm256_cvtepu8_epi16(codes);
}

// Some results of some channels.
struct PairBlock {
  const CodeWindowSpan& span;
  const PairPlaces& places;
  const int32_t* starts;  // of sums, by channel
  size_t first;           // result
  size_t channel, count;
};

template <bool kAreFew, typename T>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_some(const T& all, size_t bytes, std::byte* out) {
  std::memcpy(out, &all, kAreFew ? bytes : sizeof(all));
}

template <bool kAreFew, size_t kResults>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_codes(const PairBlock& block, const __m256i (&sums)[kResults]) {
  const CodeWindowSpan& span = block.span;
  const FinishRows& finish = *span.finish;
  const Vector factor = at(finish.factors + block.channel).lanes;
  const Vector bias = at(finish.bias + block.channel).lanes;
  Vector x[kResults][1];
#pragma GCC unroll 8
  for (size_t i = 0; i < kResults; ++i) fused<Vector>(_mm256_cvtepi32_ps(sums[i]), factor, bias, x[i][0]);
  for (size_t step = 0; step < finish.step_count; ++step) apply_alone(finish.steps[step], x);
  const Packing packing(finish);
  __m256i codes[(kResults + 3) / 4];
#pragma GCC unroll 2
  for (size_t first = 0; first < kResults; first += 4) {
    Vector group[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) group[i] = x[std::min(first + i, kResults - 1)][0];
    to_codes(finish.may_overflow, packing, group, codes[first / 4]);
  }
  const int64_t step = span.out_step;
  auto* out = static_cast<std::byte*>(span.out) + block.channel + static_cast<int64_t>(block.first) * step;
#pragma GCC unroll 8
  for (size_t i = 0; i < kResults; ++i, out += step) {
    const __m256i& four = codes[i / 4];
    const __m128i half = i % 4 < 2 ? _mm256_castsi256_si128(four) : _mm256_extracti128_si256(four, 1);
    const __m128i octet = i % 2 == 0 ? half : _mm_unpackhi_epi64(half, half);
    if constexpr (kAreFew) {
      write_some<true>(octet, block.count, out);
    } else {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(out), octet);
    }
  }
}

// Windows that are kStep pixels apart, a word for each two pixels.
template <size_t kStep, size_t kResults>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_word(size_t pixel, const __m256i& word, const PairWeights& weights,
                                                         __m256i (&sums)[kResults]) {
#pragma GCC unroll 8
  for (size_t i = 0; i < kResults; ++i) {
    const auto column = static_cast<int64_t>(pixel) - static_cast<int64_t>(i * kStep);
    if (column == 0) add_products(word, weights.first, sums[i]);
    if (column == 1) add_products(word, weights.rest, sums[i]);
    if (column == 2) add_products(word, weights.last, sums[i]);
    if (column == -1) add_products(word, weights.late, sums[i]);
  }
}

template <bool kAreSigned, bool kAreFew, size_t kStep, size_t kResults>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_lines(const PairBlock& block, const std::byte* weights,
                                                          __m256i (&sums)[kResults]) {
  constexpr size_t kPixels = (kResults - 1) * kStep + kColumns;
  const size_t lines = block.span.lines;
  const int64_t weights_line = block.span.weights_line;
  const size_t channel = block.channel;
  weights += channel * sizeof(int32_t);
  const std::byte* const* places = block.places.at[0];
  for (size_t y = 0; y < lines; ++y, weights += weights_line, places += kMostPixels) {
    PairWeights line;
    read_weights(weights, weights_line, line);
#pragma GCC unroll 16
    for (size_t pixel = 0; pixel < kPixels; pixel += 2) {
      __m256i word;
      read_word<kAreSigned, kAreFew>(places[pixel] + channel, places[pixel + 1] + channel, block.count, word);
      add_word<kStep>(pixel, word, line, sums);
    }
  }
}

template <bool kAreSigned, bool kAreFew, size_t kStep, size_t kResults>
ASSAY_KERNEL void sum_octet(const PairBlock& block) {
  const CodeWindowSpan& span = block.span;
  __m256i sums[kResults];
#pragma GCC unroll 8
  for (size_t i = 0; i < kResults; ++i) sums[i] = words_at(block.starts + block.channel);
  add_lines<kAreSigned, kAreFew, kStep>(block, span.weights, sums);
  if (span.more_weights != 0) [[unlikely]]
    add_lines<kAreSigned, kAreFew, kStep>(block, span.weights + span.more_weights, sums);
  if (span.finish != nullptr) return write_codes<kAreFew>(block, sums);
#pragma GCC unroll 8
  for (size_t i = 0; i < kResults; ++i) {
    const int64_t element = static_cast<int64_t>(block.first + i) * span.out_step + static_cast<int64_t>(block.channel);
    write_some<kAreFew>(sums[i], block.count * sizeof(int32_t),
                        static_cast<std::byte*>(span.out) + element * static_cast<int64_t>(sizeof(int32_t)));
  }
}

// Finds the places. Codes outside the picture, and those that only fill a word, are the zero point.
template <size_t kPixels>
void find_places(const CodeWindowSpan& span, size_t first, size_t pixels, PairPlaces& out) {
  const int64_t left = span.left + static_cast<int64_t>(first) * span.stride;
  for (size_t i = 0; i < kPixels + kPixels % 2; ++i) {
    const int64_t x = left + static_cast<int64_t>(i) * span.dilation;
    const bool is_inside = i < pixels && static_cast<uint64_t>(x) < static_cast<uint64_t>(span.width);
    const std::byte* place = is_inside ? span.in + x * span.pixel_step : span.zeros;
    const int64_t step = is_inside ? span.line_step : 0;
    for (size_t y = 0; y < span.lines; ++y, place += step) out.at[y][i] = place;
  }
}

// All channels; of the last octet, some may be computed twice.
template <bool kAreSigned, size_t kStep, size_t kResults>
ASSAY_KERNEL void sum_beside(const CodeWindowSpan& span, const int32_t* starts, size_t first) {
  constexpr size_t kOthers = (kResults - 1) * kStep;
  PairPlaces places;
  find_places<kOthers + kColumns>(span, first, kOthers + span.columns, places);
  if (span.channels < kWidth) {
    if constexpr (kResults == 1) sum_octet<kAreSigned, true, kStep, 1>({span, places, starts, first, 0, span.channels});
    return;
  }
  for (size_t channel = 0; channel < span.channels; channel += kWidth) {
    const size_t octet = std::min(channel, span.channels - kWidth);
    sum_octet<kAreSigned, false, kStep, kResults>({span, places, starts, first, octet, kWidth});
  }
}

template <bool kAreSigned, size_t kStep, size_t kResults>
ASSAY_KERNEL void sum_some(const CodeWindowSpan& span, const int32_t* starts, size_t first, size_t count) {
  if (count == kResults) return sum_beside<kAreSigned, kStep, kResults>(span, starts, first);
  if constexpr (kResults > 1) sum_some<kAreSigned, kStep, kResults - 1>(span, starts, first, count);
}

// In parts of as equally many results as can be.
template <bool kAreSigned, size_t kStep>
ASSAY_KERNEL void sum_all(const CodeWindowSpan& span, const int32_t* starts, size_t most) {
  const size_t count = (span.results + most - 1) / most;
  for (size_t i = 0; i < count; ++i) {
    const size_t first = i * span.results / count;
    sum_some<kAreSigned, kStep, kMostBeside>(span, starts, first, (i + 1) * span.results / count - first);
  }
}

// Starts sums with what zero points take off.
ASSAY_KERNEL void start_sums(const CodeWindowSpan& span, int32_t* starts) {
  const int zero = span.are_signed ? int{static_cast<int8_t>(*span.zeros)} : std::to_integer<int>(*span.zeros);
  const __m256i words = _mm256_set1_epi16(static_cast<int16_t>(-zero));
  for (size_t channel = 0; channel < span.channels; channel += kWidth) {
    __m256i sum = _mm256_setzero_si256();
    for (size_t line = 0; line < (span.more_weights == 0 ? 1 : 2) * span.lines; ++line) {
      const bool is_more = line >= span.lines;
      const int64_t first = is_more ? span.more_weights : 0;
      PairWeights weights;
      read_weights(span.weights + first + static_cast<int64_t>(is_more ? line - span.lines : line) * span.weights_line +
                       channel * sizeof(int32_t),
                   span.weights_line, weights);
      add_products(words, weights.first, sum);
      add_products(words, weights.last, sum);
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(starts + channel), sum);
  }
}

template <bool kAreSigned>
ASSAY_KERNEL void run_codes(const CodeWindowSpan& span, const int32_t* starts) {
  const size_t most = span.channels < kWidth ? 1 : kMostBeside;
  if (span.stride == 2 * span.dilation) return sum_all<kAreSigned, 2>(span, starts, most);
  sum_all<kAreSigned, 1>(span, starts, span.stride == span.dilation ? most : 1);
}

ASSAY_KERNEL void run(const CodeWindowSpan& span) {
  alignas(64) int32_t starts[kMostWindowChannels];
  start_sums(span, starts);
  span.are_signed ? run_codes<true>(span, starts) : run_codes<false>(span, starts);
}
#undef ASSAY_KERNEL
#endif

}  // namespace

bool has_pair_windows([[maybe_unused]] int64_t lines, [[maybe_unused]] int64_t columns) {
#if defined(__x86_64__)
  return lines <= kMostLines && columns <= static_cast<int64_t>(kColumns) && has_avx2();
#else
  return false;
#endif
}

void pack_pair_windows(const std::byte* weights, int64_t channels, int64_t lines, int64_t columns, std::byte* out) {
  const int64_t line_bytes = code_window_line(channels);
  std::memset(out, 0, static_cast<size_t>(lines * line_bytes));
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t y = 0; y < lines; ++y, weights += columns) {
      int16_t line[kColumns] = {};
      for (int64_t x = 0; x < columns; ++x) line[x] = static_cast<int16_t>(int{static_cast<int8_t>(weights[x])});
      std::byte* const to = out + y * line_bytes + channel * static_cast<int64_t>(sizeof(int32_t));
      std::memcpy(to, line, sizeof(int32_t));
      std::memcpy(to + line_bytes / 2, line + 1, sizeof(int32_t));
    }
  }
}

void run_pair_windows([[maybe_unused]] const CodeWindowSpan& span) {
#if defined(__x86_64__)
  run(span);
#endif
}

}  // namespace assay::engine::cpu
