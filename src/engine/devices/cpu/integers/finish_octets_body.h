// Steps of finish_kernels.h on vectors for AVX2, after vector_math_body.h; of rows whose numbers fill vectors.

template <typename T>
ASSAY_KERNEL [[gnu::always_inline]] inline void read_octet(const T* from, Vector& out) {
  const __m128i codes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  out = _mm256_cvtepi32_ps(std::is_signed_v<T> ? _mm256_cvtepi8_epi32(codes) : _mm256_cvtepu8_epi32(codes));
}

template <typename T, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_octets(const FinishStep& step, int64_t element,
                                                           Vector (&x)[kVectors]) {
  const T* const from = static_cast<const T*>(step.added) + element;
  Vector factor;
  set(factor, step.factor);
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    Vector added;
    read_octet(from + v * kWidth, added);
    fused(added, factor, x[v], x[v]);
  }
}

// A step that reads nothing else.
template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void apply_alone(const FinishStep& step, Vector (&x)[kRows][kVectors]) {
  const bool requantises = step.op == FinishOp::requantise;
  Vector factor, offset;
  set(factor, step.factor);
  set(offset, step.offset);
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      if (requantises) x[r][v] = _mm256_round_ps(x[r][v], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
      bound(x[r][v], step.least, step.greatest, x[r][v]);
      if (requantises) fused(x[r][v], factor, offset, x[r][v]);
    }
  }
}

// The way from numbers of 16 bits to codes: those of a type with a sign are 128 more, and are then flipped.
struct Packing {
  ASSAY_KERNEL [[gnu::always_inline]] explicit Packing(const FinishRows& rows)
      : zero(_mm256_set1_epi16(static_cast<int16_t>(rows.zero + (rows.type == NumberType::int8 ? 128 : 0)))),
        flip(_mm256_set1_epi8(static_cast<char>(rows.type == NumberType::int8 ? 0x80 : 0))) {}

  __m256i zero, flip;
};

ASSAY_KERNEL [[gnu::always_inline]] inline void to_pairs(const Packing& packing, const Vector& a, const Vector& b,
                                                         __m256i& out) {
  out = _mm256_adds_epi16(_mm256_packs_epi32(_mm256_cvtps_epi32(a), _mm256_cvtps_epi32(b)), packing.zero);
}

// Codes of four vectors of numbers, which `may_overflow` 32 bits. They become 16 bits first, in which zero points are
// added, then 8.
ASSAY_KERNEL [[gnu::always_inline]] inline void to_codes(bool may_overflow, const Packing& packing, Vector (&x)[4],
                                                         __m256i& out) {
  if (may_overflow) {
#pragma GCC unroll 4
    for (size_t v = 0; v < 4; ++v) x[v] = _mm256_min_ps(x[v], _mm256_set1_ps(kMostWhole));
  }
  __m256i low, high;
  to_pairs(packing, x[0], x[1], low);
  to_pairs(packing, x[2], x[3], high);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  out = _mm256_permutevar8x32_epi32(_mm256_xor_si256(_mm256_packus_epi16(low, high), packing.flip), order);
}
