// Steps of finish_kernels.h on vectors for AVX-512, after vector_math_body.h. Of numbers at the end of a row, `lanes`
// says which count.

ASSAY_KERNEL inline void read_numbers(const float* from, uint16_t lanes, Vector& out) {
  out = _mm512_maskz_loadu_ps(lanes, from);
}
ASSAY_KERNEL inline void read_numbers(const int8_t* from, uint16_t lanes, Vector& out) {
  const __m512i whole = _mm512_maskz_cvtepi8_epi32(kAllLanes, _mm_maskz_loadu_epi8(lanes, from));
  out = _mm512_maskz_cvtepi32_ps(kAllLanes, whole);
}
ASSAY_KERNEL inline void read_numbers(const uint8_t* from, uint16_t lanes, Vector& out) {
  const __m512i whole = _mm512_maskz_cvtepu8_epi32(kAllLanes, _mm_maskz_loadu_epi8(lanes, from));
  out = _mm512_maskz_cvtepi32_ps(kAllLanes, whole);
}

// Between two numbers on both sides of 0, as whole numbers of the same bits: instructions that any unit has. Not of
// NaN.
ASSAY_KERNEL inline void bound_around_zero(const FinishStep& step, Vector& x) {
  const __m512i least = _mm512_set1_epi32(std::bit_cast<int32_t>(-std::fabs(step.least)));
  const __m512i greatest = _mm512_set1_epi32(std::bit_cast<int32_t>(step.greatest));
  const __m512i above = _mm512_maskz_min_epu32(kAllLanes, reinterpret_cast<__m512i>(x), least);
  x = reinterpret_cast<Vector>(_mm512_maskz_min_epi32(kAllLanes, above, greatest));
}

template <bool kMayBeNan = false>
ASSAY_KERNEL inline void requantise(const FinishStep& step, Vector& x) {
  constexpr int kToNearest = 8;  // ties to even, no exceptions
  Vector factor, offset;
  set(factor, step.factor);
  set(offset, step.offset);
  x = _mm512_maskz_roundscale_ps(kAllLanes, x, kToNearest);
  if constexpr (kMayBeNan)
    bound(x, step.least, step.greatest, x);
  else
    bound_around_zero(step, x);
  fused(x, factor, offset, x);
}

// The lanes of a row's last vector that count, where the row has so many numbers.
ASSAY_KERNEL inline uint16_t last_lanes(size_t count) {
  return count % kWidth == 0 ? kAllLanes : static_cast<uint16_t>((1U << (count % kWidth)) - 1);
}

template <typename T, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_numbers(const FinishStep& step, uint16_t last, int64_t element,
                                                            Vector (&x)[kVectors]) {
  const T* const from = static_cast<const T*>(step.added) + element;
  Vector factor;
  set(factor, step.factor);
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    Vector added;
    read_numbers(from + v * kWidth, v + 1 == kVectors ? last : kAllLanes, added);
    fused(added, factor, x[v], x[v]);
  }
}

template <size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_offset(float offset, Vector (&x)[kVectors]) {
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) x[v] += offset;
}

// A step that reads nothing else.
template <size_t kRows, size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void apply_alone(const FinishStep& step, Vector (&x)[kRows][kVectors]) {
  const bool is_around_zero = step.least <= 0 && step.greatest >= 0;
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      if (step.op == FinishOp::requantise)
        requantise(step, x[r][v]);
      else if (is_around_zero)
        bound_around_zero(step, x[r][v]);
      else
        bound(x[r][v], step.least, step.greatest, x[r][v]);
    }
  }
}

// The way from numbers of 16 bits to codes: those of a type with a sign are 128 more, and are then flipped.
struct Packing {
  ASSAY_KERNEL [[gnu::always_inline]] explicit Packing(const FinishRows& rows)
      : has_zero(rows.zero + (rows.type == NumberType::int8 ? 128 : 0) != 0),
        zero(_mm512_set1_epi16(static_cast<int16_t>(rows.zero + (rows.type == NumberType::int8 ? 128 : 0)))),
        flip(_mm512_set1_epi8(static_cast<char>(rows.type == NumberType::int8 ? 0x80 : 0))) {}

  bool has_zero;
  __m512i zero, flip;
};

ASSAY_KERNEL [[gnu::always_inline]] inline void to_pairs(const Vector& a, const Vector& b, __m512i& out) {
  out = _mm512_packs_epi32(_mm512_maskz_cvtps_epi32(kAllLanes, a), _mm512_maskz_cvtps_epi32(kAllLanes, b));
}

// Codes of up to four vectors of numbers, which `may_overflow` 32 bits. They become 16 bits first, in which zero points
// are added, then 8. A lane of 128 bits holds 4 of each vector, those of the first one first.
template <size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void pack_codes(bool may_overflow, const Packing& packing,
                                                           const Vector (&given)[kVectors], __m512i& out) {
  Vector x[kVectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    x[v] = given[v];
    if (may_overflow) x[v] = _mm512_maskz_min_ps(kAllLanes, x[v], _mm512_set1_ps(kMostWhole));
  }
  __m512i low, high;
  to_pairs(x[0], x[kVectors == 1 ? 0 : 1], low);
  if (packing.has_zero) low = _mm512_adds_epi16(low, packing.zero);
  high = low;
  if constexpr (kVectors > 2) {
    to_pairs(x[2], x[kVectors - 1], high);
    if (packing.has_zero) high = _mm512_adds_epi16(high, packing.zero);
  }
  out = _mm512_xor_si512(_mm512_packus_epi16(low, high), packing.flip);
}

// Makes codes in the order of the numbers.
template <size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void to_codes(bool may_overflow, const Packing& packing,
                                                         const Vector (&x)[kVectors], __m512i& out) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  pack_codes(may_overflow, packing, x, out);
  out = _mm512_maskz_permutexvar_epi32(kAllLanes, order, out);
}

// Codes of a row of so many numbers.
template <size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_codes(const FinishRows& rows, const Vector (&x)[kVectors],
                                                            size_t count, std::byte* out) {
  const Packing packing(rows);
  __m512i codes;
  to_codes(rows.may_overflow, packing, x, codes);
  _mm512_mask_storeu_epi8(out, ~uint64_t{0} >> (kBytes - count), codes);
}
