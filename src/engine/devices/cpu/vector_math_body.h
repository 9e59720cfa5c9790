// Arithmetic on vectors of kBytes for float32 kernels; included once for each instruction set, in a namespace of its
// own, with ASSAY_KERNEL saying which. Results are within 2 ULP or so; NaN stays NaN.

using Vector [[gnu::vector_size(kBytes), gnu::may_alias]] = float;
using Unaligned [[gnu::vector_size(kBytes), gnu::may_alias, gnu::aligned(4)]] = float;
using Bits [[gnu::vector_size(kBytes), gnu::may_alias]] = int32_t;
constexpr size_t kWidth = kBytes / sizeof(float);

// A vector at any address. A reference to Unaligned would do in GCC; Clang forgets its alignment.
struct [[gnu::may_alias]] Place {
  Unaligned lanes;
};
ASSAY_KERNEL inline const Place& at(const float* x) { return *reinterpret_cast<const Place*>(x); }
ASSAY_KERNEL inline Place& at(float* x) { return *reinterpret_cast<Place*>(x); }

ASSAY_KERNEL inline void set(Vector& x, float value) { x = Vector{} + value; }
ASSAY_KERNEL inline void choose(Bits yes, const Vector& a, const Vector& b, Vector& out) { out = yes ? a : b; }
ASSAY_KERNEL inline void magnitude(const Vector& x, Vector& out) {
  out = reinterpret_cast<Vector>(reinterpret_cast<Bits>(x) & 0x7FFFFFFF);
}
ASSAY_KERNEL inline void with_sign_of(const Vector& sign, Vector& x) {
  x = reinterpret_cast<Vector>(reinterpret_cast<Bits>(x) | (reinterpret_cast<Bits>(sign) & int32_t(0x80000000)));
}

template <size_t kCount>
ASSAY_KERNEL inline void polynomial(const float (&coefficients)[kCount], const Vector& x, Vector& out) {
  set(out, coefficients[kCount - 1]);
#pragma GCC unroll 16
  for (size_t i = 2; i <= kCount; ++i) out = out * x + coefficients[kCount - i];
}

// 2^n * (1 + r + r^2 q(r)) with |r| <= ln 2 / 2; n in two halves, so that results may be denormal.
ASSAY_KERNEL inline void exponential(const Vector& given, Vector& out) {
  constexpr float kLog2e = 1.44269504088896341F;
  constexpr float kLn2High = 0.693145751953125F;
  constexpr float kLn2Low = 1.42860682030941723e-6F;
  constexpr float kQ[] = {5.000000014e-01F, 1.666657340e-01F, 4.166645686e-02F, 8.363769614e-03F, 1.393453499e-03F};
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to whole numbers
  Vector low, high, x;
  set(low, -104.0F);
  set(high, 89.0F);
  choose(given < low, low, given, x);
  choose(x > high, high, x, x);
  Vector n = x * kLog2e + kRound;
  n -= kRound;
  Vector r = x - n * kLn2High;
  r -= n * kLn2Low;
  Vector q;
  polynomial(kQ, r, q);
  const Vector sum = (q * r * r + r) + 1.0F;
  const Bits whole = __builtin_convertvector(n, Bits);
  const Bits half = whole >> 1;
  const Vector first = reinterpret_cast<Vector>((half + 127) << 23);
  const Vector second = reinterpret_cast<Vector>((whole - half + 127) << 23);
  out = sum * first * second;
  choose(given != given, given, out, out);
}

ASSAY_KERNEL inline void hyperbolic_tangent(const Vector& x, Vector& out) {
  constexpr float kSmall[] = {9.999999956e-01F,  -3.333325347e-01F, 1.333095729e-01F,
                              -5.370706758e-02F, 2.054490535e-02F,  -5.607688716e-03F};
  Vector size;
  magnitude(x, size);
  Vector grown;
  exponential(size * 2.0F, grown);
  Vector large = 1.0F - 2.0F / (grown + 1.0F);
  with_sign_of(x, large);
  Vector small;
  polynomial(kSmall, x * x, small);
  choose(size < 0.6F, small * x, large, out);
}

ASSAY_KERNEL inline void error_function(const Vector& x, Vector& out) {
  constexpr float kSmall[] = {1.128379166e+00F, -3.761262690e-01F, 1.128359746e-01F, -2.685432880e-02F,
                              5.189311943e-03F, -8.018854992e-04F, 7.882497111e-05F};
  // ln(1 - erf(x)) + x^2 from 1 to 4
  constexpr float kLarge[] = {4.005005086e-04F, -1.130604469e+00F, 3.689111320e-01F, -1.109074171e-01F,
                              2.699949716e-02F, -5.021044777e-03F, 6.733375554e-04F, -6.006879691e-05F,
                              3.095204761e-06F, -6.582858437e-08F};
  Vector size, four, bounded;
  magnitude(x, size);
  set(four, 4.0F);
  choose(size > four, four, size, bounded);
  Vector exponent;
  polynomial(kLarge, bounded, exponent);
  Vector rest;
  exponential(exponent - bounded * bounded, rest);
  Vector large = 1.0F - rest;
  with_sign_of(x, large);
  Vector small;
  polynomial(kSmall, x * x, small);
  choose(size < 1.0F, small * x, large, out);
  choose(x != x, x, out, out);
}

// From exp(-|x|), which does not overflow.
ASSAY_KERNEL inline void logistic(const Vector& x, Vector& out) {
  Vector size, one, shrunk, above;
  magnitude(x, size);
  exponential(-size, shrunk);
  set(one, 1.0F);
  choose(x < Vector{}, shrunk, one, above);
  out = above / (shrunk + 1.0F);
}
