#include "engine/devices/cpu/depthwise/code_windows.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/processor.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kWord = 4;  // columns

#if defined(__x86_64__)
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]]

constexpr size_t kQuarters = 4;
constexpr __mmask16 kAllWords = 0xFFFF;
constexpr __mmask64 kAllBytes = ~__mmask64{0};
constexpr __mmask32 kAllPairs = 0xFFFFFFFF;

// Words of 64 channels. Each quarter has four channels of every sixteen, as interleaving leaves them.
struct Words {
  __m512i quarters[kQuarters];
};

ASSAY_KERNEL [[gnu::always_inline]] inline void add_products(const Words& codes, const Words& weights, Words& sums) {
#pragma GCC unroll 4
  for (size_t q = 0; q < kQuarters; ++q)
    sums.quarters[q] = _mm512_dpbusd_epi32(sums.quarters[q], codes.quarters[q], weights.quarters[q]);
}

// The bytes of four pixels side by side.
ASSAY_KERNEL [[gnu::always_inline]] inline void interleave(const __m512i (&pixels)[kWord], Words& out) {
  const __m512i low = _mm512_maskz_unpacklo_epi8(kAllBytes, pixels[0], pixels[1]);
  const __m512i high = _mm512_maskz_unpackhi_epi8(kAllBytes, pixels[0], pixels[1]);
  const __m512i low_rest = _mm512_maskz_unpacklo_epi8(kAllBytes, pixels[2], pixels[3]);
  const __m512i high_rest = _mm512_maskz_unpackhi_epi8(kAllBytes, pixels[2], pixels[3]);
  out.quarters[0] = _mm512_maskz_unpacklo_epi16(kAllPairs, low, low_rest);
  out.quarters[1] = _mm512_maskz_unpackhi_epi16(kAllPairs, low, low_rest);
  out.quarters[2] = _mm512_maskz_unpacklo_epi16(kAllPairs, high, high_rest);
  out.quarters[3] = _mm512_maskz_unpackhi_epi16(kAllPairs, high, high_rest);
}

// Of 64 channels of a span.
struct Block {
  const std::byte* in;
  const std::byte* weights;
  __mmask64 channels;
  __m512i flip;     // what makes codes unsigned
  __m128i shift;    // of weights, so that the first column inside the picture comes first
  __m512i columns;  // the bytes of a word that are inside
  Words start;
};

ASSAY_KERNEL [[gnu::always_inline]] inline void read_weights(const Block& block, const std::byte* from, Words& out) {
#pragma GCC unroll 4
  for (size_t q = 0; q < kQuarters; ++q) {
    const __m512i words = _mm512_loadu_si512(from + q * sizeof(__m512i));
    out.quarters[q] = _mm512_and_si512(_mm512_maskz_srl_epi32(kAllWords, words, block.shift), block.columns);
  }
}

// The first pixels from a place on; those after the last of them count for nothing.
ASSAY_KERNEL [[gnu::always_inline]] inline void read_codes(const Block& block, const std::byte* from, int64_t step,
                                                           size_t pixels, Words& out) {
  __m512i read[kWord];
#pragma GCC unroll 4
  for (size_t i = 0; i < kWord; ++i) {
    const std::byte* const pixel = from + static_cast<int64_t>(std::min(i, pixels - 1)) * step;
    read[i] = _mm512_xor_si512(_mm512_maskz_loadu_epi8(block.channels, pixel), block.flip);
  }
  interleave(read, out);
}

ASSAY_KERNEL [[gnu::always_inline]] inline void store(const Words& sums, __mmask64 channels, int32_t* out) {
  const auto& q = sums.quarters;
  const __m512i a = _mm512_maskz_shuffle_i32x4(kAllWords, q[0], q[1], 0x44);
  const __m512i b = _mm512_maskz_shuffle_i32x4(kAllWords, q[2], q[3], 0x44);
  const __m512i c = _mm512_maskz_shuffle_i32x4(kAllWords, q[0], q[1], 0xEE);
  const __m512i d = _mm512_maskz_shuffle_i32x4(kAllWords, q[2], q[3], 0xEE);
  const auto part = [&](int i) { return static_cast<__mmask16>(channels >> (16 * i)); };
  _mm512_mask_storeu_epi32(out, part(0), _mm512_maskz_shuffle_i32x4(kAllWords, a, b, 0x88));
  _mm512_mask_storeu_epi32(out + 16, part(1), _mm512_maskz_shuffle_i32x4(kAllWords, a, b, 0xDD));
  _mm512_mask_storeu_epi32(out + 32, part(2), _mm512_maskz_shuffle_i32x4(kAllWords, c, d, 0x88));
  _mm512_mask_storeu_epi32(out + 48, part(3), _mm512_maskz_shuffle_i32x4(kAllWords, c, d, 0xDD));
}

// Some results from one on. Of windows that are a pixel apart, two read the same word, where the weights of the second
// lie a column later.
template <size_t kResults, size_t kOfWord>
ASSAY_KERNEL void sum_results(const CodeWindowSpan& span, const Block& block, size_t first, int32_t* out) {
  Words sums[kResults];
#pragma GCC unroll 4
  for (Words& sum : sums) sum = block.start;
  const std::byte* line = block.in + static_cast<int64_t>(first) * span.advance;
  const std::byte* weights = block.weights;
  for (size_t y = 0; y < span.lines; ++y, line += span.line_step, weights += span.weights_line) {
    Words factors[kOfWord];
    read_weights(block, weights, factors[0]);
    if constexpr (kOfWord == 2) {
#pragma GCC unroll 4
      for (size_t q = 0; q < kQuarters; ++q)
        factors[1].quarters[q] = _mm512_maskz_slli_epi32(kAllWords, factors[0].quarters[q], 8);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < kResults; i += kOfWord) {
      Words codes;
      read_codes(block, line + static_cast<int64_t>(i) * span.advance, span.pixel_step, span.columns + kOfWord - 1,
                 codes);
#pragma GCC unroll 2
      for (size_t k = 0; k < kOfWord; ++k) add_products(codes, factors[k], sums[i + k]);
    }
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < kResults; ++i)
    store(sums[i], block.channels, out + static_cast<int64_t>(first + i) * span.out_step);
}

ASSAY_KERNEL void run_block(const CodeWindowSpan& span, const Block& block, int32_t* out) {
  const bool are_beside = span.advance == span.pixel_step && span.columns < kWord;
  size_t i = 0;
  for (; i + 4 <= span.results; i += 4)
    are_beside ? sum_results<4, 2>(span, block, i, out) : sum_results<4, 1>(span, block, i, out);
  for (; i < span.results; ++i) sum_results<1, 1>(span, block, i, out);
}

ASSAY_KERNEL void run(const CodeWindowSpan& span) {
  const uint8_t flip = span.are_signed ? 0x80 : 0;
  Block block;  // NOLINT(cppcoreguidelines-pro-type-member-init): written next
  block.flip = _mm512_set1_epi8(static_cast<char>(flip));
  block.shift = _mm_cvtsi32_si128(static_cast<int>(8 * span.column));
  block.columns = _mm512_set1_epi32(static_cast<int32_t>((uint64_t{1} << (8 * span.columns)) - 1));
  Words zeros;
  for (__m512i& quarter : zeros.quarters)
    quarter = _mm512_set1_epi8(static_cast<char>(static_cast<uint8_t>(span.zero) ^ flip));
  for (size_t channel = 0; channel < span.channels; channel += kCodeWindowBlock) {
    const size_t count = std::min<size_t>(span.channels - channel, kCodeWindowBlock);
    block.in = span.in + channel;
    block.weights = span.weights + channel * kWord;
    block.channels = kAllBytes >> (kCodeWindowBlock - count);
    Words taken = {};
    for (size_t y = 0; y < span.lines; ++y) {
      Words factors;
      read_weights(block, block.weights + static_cast<int64_t>(y) * span.weights_line, factors);
      add_products(zeros, factors, taken);
    }
    for (size_t q = 0; q < kQuarters; ++q)
      block.start.quarters[q] = _mm512_sub_epi32(_mm512_setzero_si512(), taken.quarters[q]);
    run_block(span, block, span.out + channel);
  }
}
#undef ASSAY_KERNEL
#endif

}  // namespace

bool has_code_windows(int64_t columns) {
#if defined(__x86_64__)
  return columns <= kWord && has_avx512_vnni();
#else
  return false;
#endif
}

void pack_code_windows(const std::byte* weights, int64_t channels, int64_t lines, int64_t columns, std::byte* out) {
  std::memset(out, 0, static_cast<size_t>(lines * code_window_line(channels)));
  for (int64_t channel = 0; channel < channels; ++channel) {
    const int64_t in_block = channel % kCodeWindowBlock;
    const int64_t word = channel - in_block + in_block / 4 % 4 * 16 + in_block / 16 * 4 + in_block % 4;
    for (int64_t y = 0; y < lines; ++y, weights += columns)
      std::memcpy(out + y * code_window_line(channels) + word * kWord, weights, static_cast<size_t>(columns));
  }
}

void run_code_windows(const CodeWindowSpan& span) {
#if defined(__x86_64__)
  run(span);
#endif
}

}  // namespace assay::engine::cpu
