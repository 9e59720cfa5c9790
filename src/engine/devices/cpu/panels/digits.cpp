#include "engine/devices/cpu/panels/digits.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "engine/devices/cpu/processor.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::engine::cpu {

size_t digit_runs(size_t depth, size_t block) {
  const size_t of_block = (block + DigitRun::kRows - 1) / DigitRun::kRows;
  return depth / block * of_block + (depth % block + DigitRun::kRows - 1) / DigitRun::kRows;
}

#if defined(__x86_64__)
namespace {

#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma")]]
constexpr size_t kBytes = 64;
#include "engine/devices/cpu/vector_math_body.h"

constexpr size_t kVectors = kPanel / kWidth;
constexpr size_t kWordsAtOnce = kBytes / sizeof(DigitRun::words[0]);
constexpr int32_t kInfinity = 0x7F800000;
constexpr int32_t kHalves = 0x00808080;  // of the range of each digit but the highest
constexpr int kLeastExponent = -96;      // below it, the unit would be denormal
constexpr int32_t kFar = 12 << 23;       // from a number's bits to those of a 2^12th of it

struct Halves {
  Vector numbers[2];
};

ASSAY_KERNEL Halves load(const float* row, size_t count) {
  const auto mask = static_cast<__mmask32>((uint64_t{1} << count) - 1);
  return {{_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), row),
           _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> kWidth), row + kWidth)}};
}

template <typename Operation>
ASSAY_KERNEL int32_t folded(const Bits& lanes, Operation operation) {
  alignas(kBytes) int32_t values[kWidth];
  *reinterpret_cast<Bits*>(values) = lanes;
  int32_t result = values[0];
  for (size_t i = 1; i < kWidth; ++i) result = operation(result, values[i]);
  return result;
}

// A word holds four numbers that follow each other, or, where codes are nibbles, every other of eight.
ASSAY_KERNEL void store_words(const Bits& digits, bool are_nibbles, int32_t* out) {
  const __m512i order = _mm512_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
  const __m512i turned =
      _mm512_maskz_broadcast_i32x4(kAllLanes, _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  __m512i words = reinterpret_cast<__m512i>(digits);
  if (are_nibbles) words = _mm512_maskz_permutexvar_epi32(kAllLanes, order, words);
  _mm512_storeu_si512(out, _mm512_maskz_shuffle_epi8(~__mmask64{0}, words, turned));
}

// Whether half of the numbers that are not zero are within 2^12 of the greatest: the others are what is lost first.
ASSAY_KERNEL bool are_near(const Halves& given, int32_t greatest) {
  Bits nears = {}, zeros = {};
  for (const Vector& numbers : given.numbers) {
    const Bits magnitude = reinterpret_cast<Bits>(numbers) & 0x7FFFFFFF;
    nears -= magnitude > greatest - kFar;
    zeros -= magnitude == 0;
  }
  const auto sum = [](int32_t a, int32_t b) { return a + b; };
  return 2 * folded(nears, sum) + folded(zeros, sum) >= static_cast<int32_t>(DigitRun::kRows);
}

ASSAY_KERNEL bool split(const float* row, size_t count, bool are_nibbles, DigitRun& run) {
  const Halves given = load(row, count);
  Bits magnitudes = {};
  for (const Vector& numbers : given.numbers) {
    const Bits magnitude = reinterpret_cast<Bits>(numbers) & 0x7FFFFFFF;
    magnitudes = magnitude > magnitudes ? magnitude : magnitudes;
  }
  const int32_t greatest = folded(magnitudes, [](int32_t a, int32_t b) { return std::max(a, b); });
  if (greatest >= kInfinity || !are_near(given, greatest)) return false;
  const int exponent = std::max((greatest >> 23) - 126, kLeastExponent);  // numbers are below 2^exponent
  run.unit = std::bit_cast<float>((exponent - 30 + 127) << 23);
  run.count = static_cast<uint32_t>(count);
  Bits low = {}, high = {};
  for (size_t half = 0; half < 2; ++half) {
    const Vector scaled = given.numbers[half] * std::bit_cast<float>((30 - exponent + 127) << 23);
    const Bits raised = reinterpret_cast<Bits>(_mm512_maskz_cvtps_epi32(kAllLanes, scaled)) + kHalves;
    low += (raised & 0xFFFF) - (kHalves & 0xFFFF);
    high += (raised >> 16) - (kHalves >> 16);
    store_words(raised ^ kHalves, are_nibbles, run.words[half * kWordsAtOnce]);
  }
  const auto sum = [](int32_t a, int32_t b) { return a + b; };
  run.low = folded(low, sum);
  run.high = folded(high, sum);
  return true;
}

template <size_t kRows>
struct DigitSums {
  Bits sums[kRows][kVectors][DigitRun::kDigits];
};

ASSAY_KERNEL [[gnu::always_inline]] inline void add_products(const Bits& codes, const Bits& digits, Bits& sum) {
  sum = reinterpret_cast<Bits>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(codes),
                                                   reinterpret_cast<__m512i>(digits)));
}

// Four codes of each column times a word of each row.
template <size_t kRows>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_word(const Bits (&codes)[kVectors], const DigitRun* run,
                                                         size_t row_runs, size_t word, DigitSums<kRows>& to) {
#pragma GCC unroll 4
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (size_t digit = 0; digit < DigitRun::kDigits; ++digit) {
      const Bits digits = Bits{} + run[r * row_runs].words[word][digit];
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) add_products(codes[v], digits, to.sums[r][v][digit]);
    }
  }
}

template <bool kAreNibbles, size_t kRows>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_words(const std::byte* from, const DigitRun* run, size_t row_runs,
                                                          size_t word, DigitSums<kRows>& to) {
  constexpr size_t kAhead = 3072;  // bytes
  Bits codes[kVectors], upper[kVectors];
#pragma GCC unroll 2
  for (size_t v = 0; v < kVectors; ++v) {
    const std::byte* const place = from + v * kBytes;
    __builtin_prefetch(place + kAhead);
    const Bits bytes = reinterpret_cast<Bits>(Vector(at(reinterpret_cast<const float*>(place)).lanes));
    codes[v] = kAreNibbles ? bytes & 0x0F0F0F0F : bytes ^ static_cast<int32_t>(0x80808080);
    upper[v] = (bytes >> 4) & 0x0F0F0F0F;
  }
  add_word<kRows>(codes, run, row_runs, word, to);
  if constexpr (kAreNibbles) add_word<kRows>(upper, run, row_runs, word + 1, to);
}

// The zero points of codes without a sign.
template <bool kAreNibbles>
ASSAY_KERNEL [[gnu::always_inline]] inline Bits zeros_of(const CodePanel& panel, const float* zeros) {
  Bits whole = Bits{} + static_cast<int32_t>(panel.zero);
  if (panel.has_zeros) whole = __builtin_convertvector(Vector(at(zeros).lanes), Bits);
  return kAreNibbles ? whole : whole + 128;
}

// The sums of a run without those of zero points, as numbers.
ASSAY_KERNEL [[gnu::always_inline]] inline void add_number(const Bits (&sums)[DigitRun::kDigits], const Bits& zeros,
                                                           const DigitRun& run, const Vector& scale, Vector& total) {
  constexpr float kUpper = 1 << 16;
  const Bits low = (sums[1] << 8) + sums[0] - zeros * run.low;
  const Bits high = (sums[3] << 8) + sums[2] - zeros * run.high;
  const Vector number = __builtin_convertvector(high, Vector) * kUpper + __builtin_convertvector(low, Vector);
  total += number * run.unit * scale;
}

template <bool kAreNibbles, size_t kRows>
ASSAY_KERNEL void multiply_rows(const DigitRun* run, size_t row_runs, const PanelRows& rows, const CodePanel& panel) {
  constexpr size_t kWords = kAreNibbles ? 2 : 1;
  Vector totals[kRows][kVectors];
#pragma GCC unroll 8
  for (size_t i = 0; i < kRows * kVectors; ++i) {
    const auto row = static_cast<int64_t>(i / kVectors);
    totals[i / kVectors][i % kVectors] = at(rows.out + row * rows.out_row + i % kVectors * kWidth).lanes;
  }
  const std::byte* from = panel.blocks;
  for (size_t k = 0; k < rows.depth;) {
    const auto* const scales = reinterpret_cast<const float*>(from);
    from += panel.number_bytes();
    for (const size_t end = std::min(rows.depth, k + panel.block); k < end; k += run->count, ++run) {
      DigitSums<kRows> block = {};
      for (size_t word = 0; word * 4 < run->count; word += kWords, from += CodePanel::kWordRow) {
        add_words<kAreNibbles, kRows>(from, run, row_runs, word, block);
      }
#pragma GCC unroll 8
      for (size_t i = 0; i < kRows * kVectors; ++i) {
        const size_t v = i % kVectors;
        const Vector scale = at(scales + v * kWidth).lanes;
        const Bits zeros = zeros_of<kAreNibbles>(panel, scales + kPanel + v * kWidth);
        add_number(block.sums[i / kVectors][v], zeros, run[i / kVectors * row_runs], scale, totals[i / kVectors][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kRows * kVectors; ++i) {
    const auto row = static_cast<int64_t>(i / kVectors);
    at(rows.out + row * rows.out_row + i % kVectors * kWidth).lanes = totals[i / kVectors][i % kVectors];
  }
}

template <bool kAreNibbles>
void multiply_all(const DigitRun* runs, PanelRows rows, const CodePanel& panel) {
  const size_t row_runs = digit_runs(rows.depth, panel.block);
  for (; rows.rows >= 2; rows.rows -= 2, rows.out += 2 * rows.out_row, runs += 2 * row_runs) {
    multiply_rows<kAreNibbles, 2>(runs, row_runs, rows, panel);
  }
  if (rows.rows == 1) multiply_rows<kAreNibbles, 1>(runs, row_runs, rows, panel);
}
#undef ASSAY_KERNEL

}  // namespace

bool split_row(const float* row, size_t depth, const CodePanel& panel, DigitRun* runs) {
  for (size_t k = 0; k < depth;) {
    for (const size_t end = std::min(depth, k + panel.block); k < end; k += runs++->count) {
      if (!split(row + k, std::min(DigitRun::kRows, end - k), panel.are_nibbles, *runs)) return false;
    }
  }
  return true;
}

void multiply_digits(const DigitRun* runs, const PanelRows& rows, const CodePanel& panel) {
  panel.are_nibbles ? multiply_all<true>(runs, rows, panel) : multiply_all<false>(runs, rows, panel);
}

bool has_digits() { return has_avx512_vnni(); }

#else

bool split_row(const float*, size_t, const CodePanel&, DigitRun*) { return false; }
void multiply_digits(const DigitRun*, const PanelRows&, const CodePanel&) {}
bool has_digits() { return false; }

#endif

}  // namespace assay::engine::cpu
