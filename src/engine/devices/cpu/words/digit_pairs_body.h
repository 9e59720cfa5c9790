// Two digits of 16 bits, after vector_math_body.h, in words of two numbers: every other of four that follow each other,
// or, where codes are nibbles, every fourth of eight.

constexpr size_t kDigits = 2;
constexpr size_t kNumbersTogether = 2;  // in a word
constexpr int32_t kHalves = 0x8000;     // of the range of the lower digit
constexpr int32_t kByteShift = 0;

ASSAY_KERNEL inline void to_nearest(const Vector& numbers, Bits& out) {
  out = reinterpret_cast<Bits>(_mm256_cvtps_epi32(numbers));
}

// The words of as many numbers as a vector has, each of whose digits are the halves of one.
ASSAY_KERNEL inline void store_words(const Bits& digits, bool are_nibbles, int32_t* out) {
  constexpr int kUpperHalves = 0xAA, kEveryOther = 0xD8;
  __m256i numbers = reinterpret_cast<__m256i>(digits);
  if (!are_nibbles) numbers = _mm256_permute4x64_epi64(numbers, kEveryOther);
  const __m128i first = _mm256_castsi256_si128(numbers);
  const __m128i second = _mm256_extracti128_si256(numbers, 1);
  const __m128i low = _mm_blend_epi16(first, _mm_slli_epi32(second, 16), kUpperHalves);
  const __m128i high = _mm_blend_epi16(_mm_srli_epi32(first, 16), second, kUpperHalves);
  auto* const words = reinterpret_cast<__m128i*>(out);
  _mm_storeu_si128(words, are_nibbles ? low : _mm_unpacklo_epi64(low, high));
  _mm_storeu_si128(words + 1, are_nibbles ? high : _mm_unpackhi_epi64(low, high));
}

// The codes of the i-th words that a vector of them meets.
template <bool kAreNibbles>
ASSAY_KERNEL [[gnu::always_inline]] inline void codes_of(const Bits& bytes, size_t i, Bits& out) {
  const __m256i all = reinterpret_cast<__m256i>(bytes);
  if constexpr (kAreNibbles)
    out = reinterpret_cast<Bits>(_mm256_srli_epi16(all, static_cast<int>(4 * i))) & (i == 3 ? ~0 : 0x000F000F);
  else
    out = reinterpret_cast<Bits>(_mm256_srai_epi16(i == 0 ? _mm256_slli_epi16(all, 8) : all, 8));
}

// The index of the word of this digit among those of the i-th codes.
template <bool kAreNibbles>
constexpr size_t word_of(size_t i, size_t digit) {
  return digit * (kAreNibbles ? 4 : 2) + i;
}

ASSAY_KERNEL [[gnu::always_inline]] inline void add_products(const Bits& codes, const Bits& digits, Bits& sum) {
  sum += reinterpret_cast<Bits>(_mm256_madd_epi16(reinterpret_cast<__m256i>(codes), reinterpret_cast<__m256i>(digits)));
  asm("" : "+x"(sum));  // or GCC adds later, and has no registers for so many products
}

ASSAY_KERNEL [[gnu::always_inline]] inline void join(const Bits (&sums)[kDigits], Bits& low, Bits& high) {
  low = sums[0];
  high = sums[1];
}
