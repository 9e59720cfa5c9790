// erf for vectors of kBytes, after erf_intervals.h.

#include "engine/devices/cpu/vector_math_body.h"

#if defined(__x86_64__)
// The polynomial of the interval that `size` is in, whose coefficients are looked up.
template <size_t kCount, typename V>
ASSAY_KERNEL inline void by_interval(const float (&coefficients)[kCount][32], float steps, const V& size, V& out) {
  V scale, round, place, rest;
  set(scale, steps);
  set(round, kRound);
  fused(size, scale, round, place);
  const auto interval = reinterpret_cast<__m512i>(place);
  fused(size, scale, round - place, rest);
#pragma GCC unroll 16
  for (size_t i = 1; i <= kCount; ++i) {
    const float* const row = coefficients[kCount - i];
    const V first = at(row).lanes, last = at(row + kWidth).lanes;
    V coefficient = _mm512_permutex2var_ps(first, interval, last);
    if (i > 1) fused(out, rest, coefficient, coefficient);
    out = coefficient;
  }
}

template <typename V>
ASSAY_KERNEL inline void error_function_by_intervals(const V& x, V& out) {
  V size, end;
  magnitude(x, size);
  set(end, kErfEnd);
  choose(size > end, end, size, size);
  by_interval(kErf, kErfScale, size, out);
  with_sign_of(x, out);
}

template <typename V>
ASSAY_KERNEL inline void gelu_by_intervals(const V& x, V& out) {
  V size, near, share;
  magnitude(x, size);
  bound(size, 0, kGeluEnd, near);
  by_interval(kGelu, kGeluScale, near, share);
  fused(size, share, x * 0.5F, out);
}
#endif

// Below 1, x times a polynomial in its square; above, 1 less a polynomial in x - 2.475, and 1 from 3.9 on.
template <typename V>
ASSAY_KERNEL inline void error_function(const V& x, V& out) {
#if defined(__x86_64__)
  if constexpr (sizeof(V) == 64) return error_function_by_intervals(x, out);
#endif
  constexpr float kSmall[] = {1.128379122e+00F,  -3.761232618e-01F, 1.128018010e-01F,
                              -2.671131091e-02F, 4.917550977e-03F,  -5.631420436e-04F};
  constexpr float kRest[] = {4.649217261e-04F,  -2.466626885e-03F, 6.106422354e-03F,  -9.253787971e-03F,
                             9.404956961e-03F,  -6.533238722e-03F, 2.912574815e-03F,  -5.066222779e-04F,
                             -3.509046570e-04F, 2.935848686e-04F,  -5.574709957e-05F, -2.377141166e-05F,
                             9.129127089e-06F};
  Vector size, end, bounded;
  magnitude(x, size);
  set(end, 3.9F);
  choose(size > end, end, size, bounded);
  Vector rest;
  polynomial(kRest, bounded - 2.475F, rest);
  Vector large = 1.0F - rest;
  with_sign_of(x, large);
  Vector small;
  polynomial(kSmall, x * x, small);
  choose(size < 1.0F, small * x, large, out);
}

template <typename V>
ASSAY_KERNEL inline void gelu(const V& x, V& out) {
#if defined(__x86_64__)
  if constexpr (sizeof(V) == 64) return gelu_by_intervals(x, out);
#endif
  V error;
  error_function(x * 0.707106781186547524F, error);
  out = x * 0.5F * (error + 1.0F);
}
