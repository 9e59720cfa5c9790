// Words that are numbers of float32, after vector_math_body.h.

#include "engine/devices/cpu/words/panel_words_body.h"

using Element = float;
[[maybe_unused]] constexpr bool kAreCodes = false;

ASSAY_KERNEL inline void spread(const float* word, Vector& out) { set(out, *word); }
ASSAY_KERNEL inline void read(const float* x, Vector& out) { out = at(x).lanes; }
ASSAY_KERNEL inline void write(const Vector& x, float* out) { at(out).lanes = x; }
