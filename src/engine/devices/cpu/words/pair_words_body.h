// Words that are pairs of bfloat16, and numbers of this type, after vector_math_body.h for AVX-512 with BF16. Denormals
// count as zero.

#include "engine/devices/cpu/words/panel_words_body.h"

using Element = uint16_t;
[[maybe_unused]] constexpr bool kAreCodes = false;
[[maybe_unused]] constexpr bool kHasMasks = false;

ASSAY_KERNEL inline void spread(const float* word, Vector& out) { out = _mm512_set1_ps(*word); }
ASSAY_KERNEL inline void multiply_add(const Vector& a, const Vector& b, Vector& sum) {
#if defined(__clang__)
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));  // Clang 16 crashes on the intrinsic
#else
  sum = _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
#endif
}
ASSAY_KERNEL inline void read(const uint16_t* x, Vector& out) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  const __m512i words = _mm512_maskz_cvtepu16_epi32(kAllLanes, halves);
  out = reinterpret_cast<Vector>(_mm512_maskz_slli_epi32(kAllLanes, words, 16));
}
ASSAY_KERNEL inline void write(const Vector& x, float* out) { at(out).lanes = x; }
ASSAY_KERNEL inline void write(const Vector& x, uint16_t* out) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
}
