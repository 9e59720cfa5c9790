// Four digits of 8 bits, after vector_math_body.h, in words of four numbers that follow each other, or, where codes are
// nibbles, of every other of eight.

constexpr size_t kDigits = 4;
constexpr size_t kNumbersTogether = 4;   // in a word
constexpr int32_t kHalves = 0x00808080;  // of the range of each digit but the highest
constexpr int32_t kByteShift = 128;      // added to codes of 8 bits so that they have no sign

ASSAY_KERNEL inline void to_nearest(const Vector& numbers, Bits& out) {
  out = reinterpret_cast<Bits>(_mm512_maskz_cvtps_epi32(kAllLanes, numbers));
}

// The words of as many numbers as a vector has, each of whose digits are the bytes of one.
ASSAY_KERNEL inline void store_words(const Bits& digits, bool are_nibbles, int32_t* out) {
  const __m512i order = _mm512_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
  const __m512i turned =
      _mm512_maskz_broadcast_i32x4(kAllLanes, _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  __m512i words = reinterpret_cast<__m512i>(digits);
  if (are_nibbles) words = _mm512_maskz_permutexvar_epi32(kAllLanes, order, words);
  _mm512_storeu_si512(out, _mm512_maskz_shuffle_epi8(~__mmask64{0}, words, turned));
}

// The codes of the i-th words that a vector of them meets.
template <bool kAreNibbles>
ASSAY_KERNEL [[gnu::always_inline]] inline void codes_of(const Bits& bytes, size_t i, Bits& out) {
  if constexpr (kAreNibbles)
    out = (i == 0 ? bytes : bytes >> 4) & 0x0F0F0F0F;
  else
    out = bytes ^ static_cast<int32_t>(0x80808080);
}

// The index of the word of this digit among those of the i-th codes.
template <bool kAreNibbles>
constexpr size_t word_of(size_t i, size_t digit) {
  return i * kDigits + digit;
}

ASSAY_KERNEL [[gnu::always_inline]] inline void add_products(const Bits& codes, const Bits& digits, Bits& sum) {
  sum = reinterpret_cast<Bits>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(codes),
                                                   reinterpret_cast<__m512i>(digits)));
}

ASSAY_KERNEL [[gnu::always_inline]] inline void join(const Bits (&sums)[kDigits], Bits& low, Bits& high) {
  low = (sums[1] << 8) + sums[0];
  high = (sums[3] << 8) + sums[2];
}
