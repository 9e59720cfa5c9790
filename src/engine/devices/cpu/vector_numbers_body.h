// Numbers in memory, after vector_math_body.h: float32, bfloat16, whole numbers of 8 bits, and of 32 where they are
// written. Of vectors that fill half a register or less, compilers widen one number at a time, unless told how.

using Halves [[gnu::vector_size(kBytes / 2), gnu::may_alias, gnu::aligned(2)]] = uint16_t;
using Words [[gnu::vector_size(kBytes), gnu::may_alias]] = uint32_t;

using UnsignedBytes [[gnu::vector_size(kBytes / 4), gnu::may_alias, gnu::aligned(1)]] = uint8_t;

// Templates, so that instructions of other sets are not looked at.
template <typename Whole>
ASSAY_KERNEL [[gnu::always_inline]] inline void read_whole(const uint16_t* x, Whole& out) {
#if defined(__x86_64__)
  if constexpr (sizeof(Whole) == 32)
    out = reinterpret_cast<Whole>(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x))));
  else
#endif
    out = __builtin_convertvector(*reinterpret_cast<const Halves*>(x), Whole);
}
template <typename Byte, typename Whole>
ASSAY_KERNEL [[gnu::always_inline]] inline void read_bytes(const Byte* x, Whole& out) {
#if defined(__x86_64__)
  constexpr bool kIsSigned = std::is_signed_v<Byte>;
  const auto* const from = reinterpret_cast<const __m128i*>(x);
  if constexpr (sizeof(Whole) == 32) {
    const __m128i bytes = _mm_loadl_epi64(from);
    out = reinterpret_cast<Whole>(kIsSigned ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
    return;
  } else if constexpr (sizeof(Whole) == 64) {
    constexpr auto kAll = static_cast<__mmask16>(~0);
    const __m128i bytes = _mm_loadu_si128(from);
    out = reinterpret_cast<Whole>(kIsSigned ? _mm512_maskz_cvtepi8_epi32(kAll, bytes)
                                            : _mm512_maskz_cvtepu8_epi32(kAll, bytes));
    return;
  }
#endif
  using Bytes [[gnu::vector_size(kBytes / 4)]] = Byte;
  Bytes bytes;
  std::memcpy(&bytes, x, sizeof(bytes));
  out = __builtin_convertvector(bytes, Whole);
}

// The low bytes of whole numbers.
template <typename Whole>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_low_bytes(const Whole& whole, uint8_t* out) {
#if defined(__x86_64__)
  if constexpr (sizeof(Whole) == 32) {
    constexpr int kLowBytes = 0x0C080400;
    const __m256i bytes = _mm256_shuffle_epi8(reinterpret_cast<__m256i>(whole), _mm256_set1_epi32(kLowBytes));
    const __m128i high = _mm256_extracti128_si256(bytes, 1);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), high));
    return;
  }
#endif
  *reinterpret_cast<UnsignedBytes*>(out) = __builtin_convertvector(whole, UnsignedBytes);
}

ASSAY_KERNEL inline void read_numbers(const float* x, Vector& out) { out = at(x).lanes; }
ASSAY_KERNEL inline void read_numbers(const uint16_t* x, Vector& out) {
  Words words;
  read_whole(x, words);
  out = reinterpret_cast<Vector>(words << 16);
}
ASSAY_KERNEL inline void read_numbers(const uint8_t* x, Vector& out) {
  Bits whole;
  read_bytes(x, whole);
  out = __builtin_convertvector(whole, Vector);
}
ASSAY_KERNEL inline void read_numbers(const int8_t* x, Vector& out) {
  Bits whole;
  read_bytes(x, whole);
  out = __builtin_convertvector(whole, Vector);
}

ASSAY_KERNEL inline void write_numbers(const Vector& x, float* out) { at(out).lanes = x; }
// Bits of bfloat16 in the upper half of each, and something below them.
ASSAY_KERNEL inline void round_words(const Vector& numbers, Words& rounded) {
  const Words bits = reinterpret_cast<Words>(numbers);
  const Words is_nan = reinterpret_cast<Words>(numbers != numbers);
  rounded = (is_nan & (bits | 0x400000U)) | (~is_nan & (bits + 0x7FFFU + (bits >> 16 & 1U)));
}
ASSAY_KERNEL inline void write_numbers(const Vector& x, uint16_t* out) {
  Words rounded;
  round_words(x, rounded);
  *reinterpret_cast<Halves*>(out) = __builtin_convertvector(rounded >> 16, Halves);
}
ASSAY_KERNEL inline void write_numbers(const Vector& x, int32_t* out) {
  const Bits whole = __builtin_convertvector(x, Bits);
  at(reinterpret_cast<float*>(out)).lanes = reinterpret_cast<Vector>(whole);
}
