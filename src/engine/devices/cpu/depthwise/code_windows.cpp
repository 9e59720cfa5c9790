#include "engine/devices/cpu/depthwise/code_windows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/depthwise/pair_windows.h"
#include "engine/devices/cpu/processor.h"

namespace assay::engine::cpu {
namespace {

constexpr size_t kWord = 4;      // columns
constexpr size_t kQuarters = 4;  // of the channels of a block
constexpr size_t kLane = 16;     // channels that interleaving keeps together

// The number of channels to compute at once if so many are left.
constexpr size_t block_of(size_t channels) { return channels > 32 ? 64 : channels > 16 ? 32 : 16; }

#if defined(__x86_64__)
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]]

// The results of sums.
namespace codes {
constexpr size_t kBytes = 64;
// clang-format off
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/integers/finish_numbers_body.h"
// clang-format on
}  // namespace codes

// Vectors of kBytes, and what is done to them.
template <size_t kBytes>
struct Vectors {
  using Words [[gnu::vector_size(kBytes)]] = int32_t;
  using Unaligned [[gnu::vector_size(kBytes), gnu::aligned(1), gnu::may_alias]] = int32_t;
  using Pairs [[gnu::vector_size(kBytes)]] = int16_t;
  using Bytes [[gnu::vector_size(kBytes)]] = int8_t;
};
using Words64 = Vectors<64>::Words;
using Words32 = Vectors<32>::Words;
using Words16 = Vectors<16>::Words;

ASSAY_KERNEL [[gnu::always_inline]] inline void add_products(const Words64& a, const Words64& b, Words64& sum) {
  sum = reinterpret_cast<Words64>(
      _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
ASSAY_KERNEL [[gnu::always_inline]] inline void add_products(const Words32& a, const Words32& b, Words32& sum) {
  sum = reinterpret_cast<Words32>(
      _mm256_dpbusd_epi32(reinterpret_cast<__m256i>(sum), reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
ASSAY_KERNEL [[gnu::always_inline]] inline void add_products(const Words16& a, const Words16& b, Words16& sum) {
  sum = reinterpret_cast<Words16>(
      _mm_dpbusd_epi32(reinterpret_cast<__m128i>(sum), reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
}
ASSAY_KERNEL [[gnu::always_inline]] inline void load(const std::byte* from, uint64_t channels, Words64& out) {
  out = reinterpret_cast<Words64>(_mm512_maskz_loadu_epi8(channels, from));
}
ASSAY_KERNEL [[gnu::always_inline]] inline void load(const std::byte* from, uint64_t channels, Words32& out) {
  out = reinterpret_cast<Words32>(_mm256_maskz_loadu_epi8(static_cast<__mmask32>(channels), from));
}
ASSAY_KERNEL [[gnu::always_inline]] inline void load(const std::byte* from, uint64_t channels, Words16& out) {
  out = reinterpret_cast<Words16>(_mm_maskz_loadu_epi8(static_cast<__mmask16>(channels), from));
}
// Four channels of each quarter are sixteen.
ASSAY_KERNEL [[gnu::always_inline]] inline void store_lane(__m128i a, __m128i b, __m128i c, __m128i d,
                                                           uint64_t channels, int32_t* out) {
  const __m256i low = _mm256_set_m128i(b, a);
  const __m256i high = _mm256_set_m128i(d, c);
  _mm256_mask_storeu_epi32(out, static_cast<__mmask8>(channels), low);
  _mm256_mask_storeu_epi32(out + 8, static_cast<__mmask8>(channels >> 8), high);
}

// Words of a block's channels. Each quarter has four channels of every sixteen, as interleaving leaves them.
template <size_t kBytes>
struct Quarters {
  typename Vectors<kBytes>::Words at[kQuarters];
};

template <size_t kBytes>
ASSAY_KERNEL [[gnu::always_inline]] inline void store(const Quarters<kBytes>& sums, uint64_t channels, int32_t* out) {
  __m128i lanes[kQuarters][kBytes / kLane];
  std::memcpy(lanes, sums.at, sizeof(lanes));
#pragma GCC unroll 4
  for (size_t i = 0; i < kBytes / kLane; ++i)
    store_lane(lanes[0][i], lanes[1][i], lanes[2][i], lanes[3][i], channels >> (i * kLane), out + i * kLane);
}
template <>
ASSAY_KERNEL [[gnu::always_inline]] inline void store(const Quarters<64>& sums, uint64_t channels, int32_t* out) {
  constexpr __mmask16 kAll = 0xFFFF;
  __m512i q[kQuarters];
  std::memcpy(q, sums.at, sizeof(q));
  const __m512i a = _mm512_maskz_shuffle_i32x4(kAll, q[0], q[1], 0x44);
  const __m512i b = _mm512_maskz_shuffle_i32x4(kAll, q[2], q[3], 0x44);
  const __m512i c = _mm512_maskz_shuffle_i32x4(kAll, q[0], q[1], 0xEE);
  const __m512i d = _mm512_maskz_shuffle_i32x4(kAll, q[2], q[3], 0xEE);
  const auto part = [&](int i) { return static_cast<__mmask16>(channels >> (16 * i)); };
  _mm512_mask_storeu_epi32(out, part(0), _mm512_maskz_shuffle_i32x4(kAll, a, b, 0x88));
  _mm512_mask_storeu_epi32(out + 16, part(1), _mm512_maskz_shuffle_i32x4(kAll, a, b, 0xDD));
  _mm512_mask_storeu_epi32(out + 32, part(2), _mm512_maskz_shuffle_i32x4(kAll, c, d, 0x88));
  _mm512_mask_storeu_epi32(out + 48, part(3), _mm512_maskz_shuffle_i32x4(kAll, c, d, 0xDD));
}

// Vectors that lie by channel, by quarter.
template <size_t kBytes>
ASSAY_KERNEL [[gnu::always_inline]] inline void read_quarters(const float* from, codes::Vector (&out)[kQuarters]) {
#pragma GCC unroll 4
  for (size_t q = 0; q < kQuarters; ++q) {
    const float* const lane = from + q * kQuarters;
    __m512 all = {};
    all = _mm512_maskz_insertf32x4(codes::kAllLanes, all, _mm_loadu_ps(lane), 0);
    if constexpr (kBytes >= 32) all = _mm512_maskz_insertf32x4(codes::kAllLanes, all, _mm_loadu_ps(lane + kLane), 1);
    if constexpr (kBytes == 64) {
      all = _mm512_maskz_insertf32x4(codes::kAllLanes, all, _mm_loadu_ps(lane + 2 * kLane), 2);
      all = _mm512_maskz_insertf32x4(codes::kAllLanes, all, _mm_loadu_ps(lane + 3 * kLane), 3);
    }
    out[q] = all;
  }
}

ASSAY_KERNEL [[gnu::always_inline]] inline __m512i widened(const Words64& x) { return reinterpret_cast<__m512i>(x); }
ASSAY_KERNEL [[gnu::always_inline]] inline __m512i widened(const Words32& x) {
  return _mm512_maskz_inserti64x4(0xFF, __m512i{}, reinterpret_cast<__m256i>(x), 0);
}
ASSAY_KERNEL [[gnu::always_inline]] inline __m512i widened(const Words16& x) {
  return _mm512_maskz_inserti32x4(codes::kAllLanes, __m512i{}, reinterpret_cast<__m128i>(x), 0);
}

// Lower and upper halves of each lane, an element of `a` and one of `b` in turn.
template <typename V, size_t... kIndex>
ASSAY_KERNEL [[gnu::always_inline]] inline void zip(const V& a, const V& b, V& low, V& high,
                                                    std::index_sequence<kIndex...>) {
  constexpr size_t kCount = sizeof...(kIndex), kInLane = kLane * kCount / sizeof(V);
  constexpr auto source = [](size_t i, size_t half) {
    return static_cast<int>(i / kInLane * kInLane + half * kInLane / 2 + i % kInLane / 2 + i % 2 * kCount);
  };
  low = __builtin_shufflevector(a, b, source(kIndex, 0)...);
  high = __builtin_shufflevector(a, b, source(kIndex, 1)...);
}

// The bytes of four pixels side by side.
template <size_t kBytes>
ASSAY_KERNEL [[gnu::always_inline]] inline void interleave(const typename Vectors<kBytes>::Words (&pixels)[kWord],
                                                           Quarters<kBytes>& out) {
  using Bytes = typename Vectors<kBytes>::Bytes;
  using Pairs = typename Vectors<kBytes>::Pairs;
  Bytes first[2], rest[2];
  constexpr auto kAllBytes = std::make_index_sequence<kBytes>();
  zip(reinterpret_cast<Bytes>(pixels[0]), reinterpret_cast<Bytes>(pixels[1]), first[0], first[1], kAllBytes);
  zip(reinterpret_cast<Bytes>(pixels[2]), reinterpret_cast<Bytes>(pixels[3]), rest[0], rest[1], kAllBytes);
#pragma GCC unroll 2
  for (size_t i = 0; i < 2; ++i) {
    Pairs low, high;
    zip(reinterpret_cast<Pairs>(first[i]), reinterpret_cast<Pairs>(rest[i]), low, high,
        std::make_index_sequence<kBytes / 2>());
    out.at[2 * i] = reinterpret_cast<typename Vectors<kBytes>::Words>(low);
    out.at[2 * i + 1] = reinterpret_cast<typename Vectors<kBytes>::Words>(high);
  }
}

// Some channels of a span.
template <size_t kBytes>
struct Block {
  const CodeWindowSpan* of;
  size_t first;       // channel
  uint64_t channels;  // in bits
  Quarters<kBytes> start;
  codes::Vector factors[kQuarters], bias[kQuarters];  // set if codes are made

  size_t passes;  // 2: more weights are added to those of some channel

  ASSAY_KERNEL const std::byte* weights(size_t pass, size_t line) const {
    return of->weights + static_cast<int64_t>(pass) * of->more_weights + first * kWord +
           static_cast<int64_t>(line) * of->weights_line;
  }
};

template <size_t kBytes>
ASSAY_KERNEL [[gnu::always_inline]] inline void read_weights(const std::byte* from, Quarters<kBytes>& out) {
  const auto* const words = reinterpret_cast<const typename Vectors<kBytes>::Unaligned*>(from);
#pragma GCC unroll 4
  for (size_t q = 0; q < kQuarters; ++q) out.at[q] = words[q];
}

// The pixels of a window, and, where two share them, the last one of the next.
template <bool kAreSigned, size_t kBytes>
ASSAY_KERNEL [[gnu::always_inline]] inline void read_codes(const Block<kBytes>& block, const std::byte* line, int64_t x,
                                                           size_t pixels, Quarters<kBytes>& out) {
  const CodeWindowSpan& span = *block.of;
  typename Vectors<kBytes>::Words read[kWord];
#pragma GCC unroll 4
  for (size_t i = 0; i < kWord; ++i) {
    const int64_t at = x + static_cast<int64_t>(i) * span.dilation;
    const bool is_inside = i < pixels && static_cast<uint64_t>(at) < static_cast<uint64_t>(span.width);
    load((is_inside ? line + at * span.pixel_step : span.zeros) + block.first, block.channels, read[i]);
    if constexpr (kAreSigned) read[i] ^= static_cast<int32_t>(0x80808080);
  }
  interleave<kBytes>(read, out);
}

// Quarters of numbers are packed into codes in the order of channels.
template <size_t kResults, size_t kBytes>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_codes(const Block<kBytes>& block,
                                                            const Quarters<kBytes> (&sums)[kResults], size_t first) {
  const FinishRows& finish = *block.of->finish;
  codes::Vector x[kResults][kQuarters];
#pragma GCC unroll 4
  for (size_t i = 0; i < kResults; ++i) {
#pragma GCC unroll 4
    for (size_t q = 0; q < kQuarters; ++q) {
      const codes::Vector sum = _mm512_maskz_cvtepi32_ps(codes::kAllLanes, widened(sums[i].at[q]));
      codes::fused(sum, block.factors[q], block.bias[q], x[i][q]);
    }
  }
  for (size_t step = 0; step < finish.step_count; ++step) codes::apply_alone(finish.steps[step], x);
  auto* const out = static_cast<std::byte*>(block.of->out) + block.first;
  const codes::Packing packing(finish);
#pragma GCC unroll 4
  for (size_t i = 0; i < kResults; ++i) {
    __m512i packed;
    codes::pack_codes(finish.may_overflow, packing, x[i], packed);
    _mm512_mask_storeu_epi8(out + static_cast<int64_t>(first + i) * block.of->out_step, block.channels, packed);
  }
}

// Some results from one on. Of windows that are a pixel apart, two read the same word, where the weights of the second
// lie a column later.
template <bool kAreSigned, size_t kResults, size_t kOfWord, size_t kBytes>
ASSAY_KERNEL void sum_results(const Block<kBytes>& block, size_t first) {
  const CodeWindowSpan& span = *block.of;
  Quarters<kBytes> sums[kResults];
#pragma GCC unroll 4
  for (Quarters<kBytes>& sum : sums) sum = block.start;
  const int64_t left = span.left + static_cast<int64_t>(first) * span.stride;
  const std::byte* line = span.in;
  for (size_t y = 0; y < block.passes * span.lines; ++y, line += span.line_step) {
    if (y == span.lines) line = span.in;
    Quarters<kBytes> factors[kOfWord];
    read_weights(y < span.lines ? block.weights(0, y) : block.weights(1, y - span.lines), factors[0]);
    if constexpr (kOfWord == 2) {
#pragma GCC unroll 4
      for (size_t q = 0; q < kQuarters; ++q) factors[1].at[q] = factors[0].at[q] << 8;
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < kResults; i += kOfWord) {
      Quarters<kBytes> codes;
      const int64_t x = left + static_cast<int64_t>(i) * span.stride;
      read_codes<kAreSigned>(block, line, x, span.columns + kOfWord - 1, codes);
#pragma GCC unroll 2
      for (size_t k = 0; k < kOfWord; ++k) {
#pragma GCC unroll 4
        for (size_t q = 0; q < kQuarters; ++q) add_products(codes.at[q], factors[k].at[q], sums[i + k].at[q]);
      }
    }
  }
  if (span.finish != nullptr) return write_codes(block, sums, first);
#pragma GCC unroll 4
  for (size_t i = 0; i < kResults; ++i) {
    const int64_t element = static_cast<int64_t>(first + i) * span.out_step + static_cast<int64_t>(block.first);
    store(sums[i], block.channels, static_cast<int32_t*>(span.out) + element);
  }
}

// Results by blocks of channels.
class Blocks {
 public:
  static constexpr size_t kMost = 16;

  ASSAY_KERNEL Blocks(const CodeWindowSpan& span, size_t first, size_t count) : span_(span) {
    for (; count > 32; first += std::min<size_t>(count, 64), count -= std::min<size_t>(count, 64))
      prepare(first, std::min<size_t>(count, 64), whole_[wholes_++]);
    if (count > 16)
      prepare(first, count, half_);
    else if (count > 0)
      prepare(first, count, quarter_);
    rest_ = count;
  }

  // The last of four may be computed twice.
  template <bool kAreSigned, size_t kOfWord>
  ASSAY_KERNEL void sum_all() const {
    const size_t results = span_.results;
    for (size_t i = 0; i + 4 <= results; i += 4) sum<kAreSigned, 4, kOfWord>(i);
    if (results >= 4 && results % 4 != 0) return sum<kAreSigned, 4, kOfWord>(results - 4);
    for (size_t i = 0; i < results % 4; ++i) sum<kAreSigned, 1, 1>(i);
  }

 private:
  template <size_t kBytes>
  ASSAY_KERNEL bool has_more(const Block<kBytes>& block) const {
    if (span_.more_weights == 0) return false;
    typename Vectors<kBytes>::Words all = {};
    for (size_t y = 0; y < span_.lines; ++y) {
      Quarters<kBytes> factors;
      read_weights(block.weights(1, y), factors);
      for (const auto& quarter : factors.at) all |= quarter;
    }
    int32_t words[kBytes / sizeof(int32_t)];
    std::memcpy(words, &all, sizeof(words));
    return std::ranges::any_of(words, [](int32_t word) { return word != 0; });
  }

  template <size_t kBytes>
  ASSAY_KERNEL void prepare(size_t first, size_t count, Block<kBytes>& block) const {
    block.of = &span_;
    block.first = first;
    block.channels = ~uint64_t{0} >> (64 - count);
    Quarters<kBytes> zeros, taken = {};
    const unsigned zero = std::to_integer<unsigned>(*span_.zeros) ^ (span_.are_signed ? 0x80U : 0U);
    const auto in_each_byte = static_cast<int32_t>(zero * 0x01010101U);
    for (auto& quarter : zeros.at) quarter = typename Vectors<kBytes>::Words{} + in_each_byte;
    block.passes = has_more(block) ? 2 : 1;
    for (size_t i = 0; i < block.passes * span_.lines; ++i) {
      Quarters<kBytes> factors;
      read_weights(block.weights(i / span_.lines, i % span_.lines), factors);
      for (size_t q = 0; q < kQuarters; ++q) add_products(zeros.at[q], factors.at[q], taken.at[q]);
    }
    for (size_t q = 0; q < kQuarters; ++q) block.start.at[q] = -taken.at[q];
    if (span_.finish == nullptr) return;
    read_quarters<kBytes>(span_.finish->factors + first, block.factors);
    read_quarters<kBytes>(span_.finish->bias + first, block.bias);
  }

  // All channels of a few results, so that what they read lies together.
  template <bool kAreSigned, size_t kResults, size_t kOfWord>
  ASSAY_KERNEL void sum(size_t first) const {
    for (size_t i = 0; i < wholes_; ++i) sum_results<kAreSigned, kResults, kOfWord>(whole_[i], first);
    if (rest_ > 16)
      sum_results<kAreSigned, kResults, kOfWord>(half_, first);
    else if (rest_ > 0)
      sum_results<kAreSigned, kResults, kOfWord>(quarter_, first);
  }

  const CodeWindowSpan& span_;
  Block<64> whole_[kMost];
  Block<32> half_;
  Block<16> quarter_;
  size_t wholes_ = 0, rest_;
};

ASSAY_KERNEL void run(const CodeWindowSpan& span) {
  constexpr size_t kTogether = Blocks::kMost * kCodeWindowBlock;
  const bool are_beside = span.stride == span.dilation && span.columns < kWord;
  for (size_t first = 0; first < span.channels; first += kTogether) {
    const Blocks blocks(span, first, std::min(span.channels - first, kTogether));
    if (span.are_signed)
      are_beside ? blocks.sum_all<true, 2>() : blocks.sum_all<true, 1>();
    else
      are_beside ? blocks.sum_all<false, 2>() : blocks.sum_all<false, 1>();
  }
}
#undef ASSAY_KERNEL
#endif

}  // namespace

bool has_code_windows(int64_t lines, int64_t columns) {
  return has_avx512_vnni() ? columns <= static_cast<int64_t>(kWord) : has_pair_windows(lines, columns);
}

int64_t code_window_line(int64_t channels) {
  const int64_t whole = (channels + kCodeWindowBlock - 1) / kCodeWindowBlock * kCodeWindowBlock;
  return whole * (has_avx512_vnni() ? static_cast<int64_t>(kWord) : kPairWindowBytes);
}

void pack_code_windows(const std::byte* weights, int64_t channels, int64_t lines, int64_t columns, std::byte* out) {
  if (!has_avx512_vnni()) return pack_pair_windows(weights, channels, lines, columns, out);
  std::memset(out, 0, static_cast<size_t>(lines * code_window_line(channels)));
  const auto count = static_cast<size_t>(channels);
  for (size_t channel = 0, block = 0; channel < count; ++channel) {
    if (channel == block + block_of(count - block)) block = channel;
    const size_t in_block = channel - block;
    const size_t quarter = in_block % kLane / kQuarters;
    const size_t word = block + quarter * block_of(count - block) / kQuarters + in_block / kLane * 4 + in_block % 4;
    for (int64_t y = 0; y < lines; ++y, weights += columns)
      std::memcpy(out + y * code_window_line(channels) + word * kWord, weights, static_cast<size_t>(columns));
  }
}

void run_code_windows(const CodeWindowSpan& span) {
#if defined(__x86_64__)
  if (has_avx512_vnni()) return run(span);
#endif
  run_pair_windows(span);
}

}  // namespace assay::engine::cpu
