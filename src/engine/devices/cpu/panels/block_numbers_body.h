// Helpers for the numbers before the codes of a block, after vector_math_body.h.

using Halves [[gnu::vector_size(kBytes / 2), gnu::may_alias, gnu::aligned(2)]] = uint16_t;
struct [[gnu::may_alias]] HalfPlace {
  Halves lanes;
};

// GCC 12 converts 16 bytes in six instructions where this takes one.
template <typename V>
ASSAY_KERNEL inline void load_bits(const uint16_t* from, V& out) {
  if constexpr (sizeof(V) == 32)
    out = reinterpret_cast<V>(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  else
    out = __builtin_convertvector(reinterpret_cast<const HalfPlace*>(from)->lanes, V);
}

// The scales of the columns of the v-th vector.
template <bool kAreHalves>
ASSAY_KERNEL [[gnu::always_inline]] inline void load_scales(const std::byte* numbers, size_t v, Vector& out) {
  if constexpr (kAreHalves) {
    Bits bits;
    load_bits(reinterpret_cast<const uint16_t*>(numbers) + v * kWidth, bits);
    constexpr float kUnit = 0x1p112F;  // between the exponents of float16 and float32
    out = reinterpret_cast<Vector>((bits & 0x7FFF) << 13 | (bits & 0x8000) << 16) * kUnit;
  } else {
    out = at(reinterpret_cast<const float*>(numbers) + v * kWidth).lanes;
  }
}
ASSAY_KERNEL [[gnu::always_inline]] inline void load_scales(const PanelForm& form, const std::byte* numbers, size_t v,
                                                            Vector& out) {
  form.are_scales_halves ? load_scales<true>(numbers, v, out) : load_scales<false>(numbers, v, out);
}

inline const float* zeros_of(const PanelForm& form, const std::byte* numbers) {
  return reinterpret_cast<const float*>(numbers + form.scale_bytes());
}
