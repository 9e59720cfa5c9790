// Words that are numbers of float32, after vector_math_body.h.

#include "engine/devices/cpu/words/panel_words_body.h"

using Element = float;
[[maybe_unused]] constexpr bool kAreCodes = false;

ASSAY_KERNEL inline void spread(const float* word, Vector& out) { set(out, *word); }
ASSAY_KERNEL inline void read(const float* x, Vector& out) { out = at(x).lanes; }
ASSAY_KERNEL inline void write(const Vector& x, float* out) { at(out).lanes = x; }

#if defined(__x86_64__)
// The first numbers alone, by masks of AVX-512.
template <typename V>
ASSAY_KERNEL [[gnu::always_inline]] inline void read_first(const float* x, size_t count, V& out) {
  if constexpr (sizeof(V) == 64)
    out = _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1), x);
  else
    out = _mm256_maskz_loadu_ps(static_cast<__mmask8>((1U << count) - 1), x);
}
template <typename V>
ASSAY_KERNEL [[gnu::always_inline]] inline void write_first(const V& x, size_t count, float* out) {
  if constexpr (sizeof(V) == 64)
    _mm512_mask_storeu_ps(out, static_cast<__mmask16>((1U << count) - 1), x);
  else
    _mm256_mask_storeu_ps(out, static_cast<__mmask8>((1U << count) - 1), x);
}
#endif
