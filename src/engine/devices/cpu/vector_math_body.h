// Arithmetic on vectors of kBytes for float32 kernels; included once for each instruction set, in a namespace of its
// own, with ASSAY_KERNEL saying which, after immintrin.h. Results are within 2 ULP or so; NaN stays NaN.

using Vector [[gnu::vector_size(kBytes), gnu::may_alias]] = float;
using Unaligned [[gnu::vector_size(kBytes), gnu::may_alias, gnu::aligned(4)]] = float;
using Bits [[gnu::vector_size(kBytes), gnu::may_alias]] = int32_t;
constexpr size_t kWidth = kBytes / sizeof(float);
[[maybe_unused]] constexpr uint16_t kAllLanes = 0xFFFF;  // without a mask GCC 12 warns of its own headers

// A vector at any address. A reference to Unaligned would do in GCC; Clang forgets its alignment.
struct [[gnu::may_alias]] Place {
  Unaligned lanes;
};
ASSAY_KERNEL inline const Place& at(const float* x) { return *reinterpret_cast<const Place*>(x); }
ASSAY_KERNEL inline Place& at(float* x) { return *reinterpret_cast<Place*>(x); }

ASSAY_KERNEL inline void set(Vector& x, float value) { x = value - Vector{}; }  // no addition: -0 + 0 is another number
ASSAY_KERNEL inline void choose(Bits yes, const Vector& a, const Vector& b, Vector& out) { out = yes ? a : b; }
ASSAY_KERNEL inline void magnitude(const Vector& x, Vector& out) {
  out = reinterpret_cast<Vector>(reinterpret_cast<Bits>(x) & 0x7FFFFFFF);
}
ASSAY_KERNEL inline void with_sign_of(const Vector& sign, Vector& x) {
  x = reinterpret_cast<Vector>(reinterpret_cast<Bits>(x) | (reinterpret_cast<Bits>(sign) & int32_t(0x80000000)));
}

// a * b + c, rounded once where the processor can; `out` may be one of them.
template <typename V>
ASSAY_KERNEL inline void fused(const V& a, const V& b, const V& c, V& out) {
  if constexpr (sizeof(V) == 64)
    out = _mm512_fmadd_ps(a, b, c);
  else if constexpr (sizeof(V) == 32)
    out = _mm256_fmadd_ps(a, b, c);
  else
    out = a * b + c;
}
ASSAY_KERNEL inline void fused(const Vector& a, float b, const Vector& c, Vector& out) {
  Vector factor;
  set(factor, b);
  fused(a, factor, c, out);
}

template <size_t kCount>
ASSAY_KERNEL inline void polynomial(const float (&coefficients)[kCount], const Vector& x, Vector& out) {
  set(out, coefficients[kCount - 1]);
#pragma GCC unroll 16
  for (size_t i = 2; i <= kCount; ++i) {
    Vector next;
    set(next, coefficients[kCount - i]);
    fused(out, x, next, out);
  }
}

// terms[0] + terms[1] x + terms[2] x^2 ..., into the first.
template <size_t kCount>
ASSAY_KERNEL [[gnu::always_inline]] inline void sum_by_halves(const Vector& x, Vector* terms) {
  if constexpr (kCount > 1) {
#pragma GCC unroll 16
    for (size_t i = 0; i < kCount / 2; ++i) fused(terms[2 * i + 1], x, terms[2 * i], terms[i]);
    if constexpr (kCount % 2 == 1) terms[kCount / 2] = terms[kCount - 1];
    sum_by_halves<(kCount + 1) / 2>(x * x, terms);
  }
}

// Computes polynomial() with few dependent steps: processors have too little room for many that wait.
template <size_t kCount>
ASSAY_KERNEL inline void short_polynomial(const float (&coefficients)[kCount], const Vector& x, Vector& out) {
  Vector terms[kCount];
#pragma GCC unroll 16
  for (size_t i = 0; i < kCount; ++i) set(terms[i], coefficients[i]);
  sum_by_halves<kCount>(x, terms);
  out = terms[0];
}

// NaN stays.
template <typename V>
ASSAY_KERNEL inline void at_least(const V& x, const V& low, V& out) {
  if constexpr (sizeof(V) == 64)
    out = _mm512_maskz_max_ps(kAllLanes, low, x);
  else if constexpr (sizeof(V) == 32)
    out = _mm256_max_ps(low, x);
  else
    choose(x < low, low, x, out);
}
template <typename V>
ASSAY_KERNEL inline void at_least(const V& x, float least, V& out) {
  V low;
  set(low, least);
  at_least(x, low, out);
}
template <typename V>
ASSAY_KERNEL inline void at_most(const V& x, const V& high, V& out) {
  if constexpr (sizeof(V) == 64)
    out = _mm512_maskz_min_ps(kAllLanes, high, x);
  else if constexpr (sizeof(V) == 32)
    out = _mm256_min_ps(high, x);
  else
    choose(x > high, high, x, out);
}

// Between two numbers; NaN stays.
template <typename V>
ASSAY_KERNEL inline void bound(const V& x, float least, float greatest, V& out) {
  V high;
  set(high, greatest);
  at_least(x, least, out);
  at_most(out, high, out);
}

// x * 2^n for whole numbers n; x is from 0.5 to 2, results may be denormal.
template <typename V>
ASSAY_KERNEL inline void scale(const V& x, const V& n, V& out) {
  if constexpr (sizeof(V) == 64) {
    out = _mm512_maskz_scalef_ps(kAllLanes, x, n);
  } else {
    const Bits whole = __builtin_convertvector(n, Bits);
    const Bits half = whole >> 1;
    out = x * reinterpret_cast<V>((half + 127) << 23) * reinterpret_cast<V>((whole - half + 127) << 23);
  }
}

constexpr float kLog2e = 1.44269504088896341F;
constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to whole numbers

// e^x / 2^n is a polynomial in r with |r| <= ln 2 / 2. `shifted` is n and another whole number.
ASSAY_KERNEL inline void reduced_exponential(const Vector& x, float shift, Vector& shifted, Vector& out) {
  constexpr float kLn2High = 0.693145751953125F;
  constexpr float kLn2Low = 1.42860682030941723e-6F;
  constexpr float kPowers[] = {
      1, 1, 5.000000014e-01F, 1.666657340e-01F, 4.166645686e-02F, 8.363769614e-03F, 1.393453499e-03F};
  Vector r;
  set(shifted, shift);
  fused(x, kLog2e, shifted, shifted);
  const Vector n = shifted - shift;
  fused(n, -kLn2High, x, r);
  fused(n, -kLn2Low, r, r);
  short_polynomial(kPowers, r, out);
}

ASSAY_KERNEL inline void exponential(const Vector& given, Vector& out) {
  Vector x, shifted, power;
  bound(given, -104.0F, 89.0F, x);
  reduced_exponential(x, kRound, shifted, power);
  scale(power, shifted - kRound, out);
  if constexpr (kBytes != 64) choose(given != given, given, out, out);  // NaN has no whole number otherwise
}

// The exponential of numbers that are not above 0.
template <typename V>
ASSAY_KERNEL inline void falling_exponential(const V& given, V& out) {
  constexpr float kAway = sizeof(V) == 64 ? 0 : 32;  // from denormal numbers
  V x, shifted, power;
  at_least(given, -104.0F, x);
  reduced_exponential(x, kRound + kAway, shifted, power);
  if constexpr (sizeof(V) == 64) return scale(power, shifted - kRound, out);
  out = reinterpret_cast<V>(reinterpret_cast<Bits>(power) + (reinterpret_cast<Bits>(shifted) << 23)) * 0x1p-32F;
  choose(given != given, given, out, out);
}

// The nearest whole number, and what x is more than that.
template <typename V>
ASSAY_KERNEL inline void divide_up(const V& given, V& whole, V& rest) {
  if constexpr (sizeof(V) == 64) {
    constexpr int kToNearest = 8;
    rest = _mm512_maskz_reduce_ps(kAllLanes, given, kToNearest);
    whole = given - rest;
  } else {
    V x;
    bound(given, -150.0F, 129.0F, x);
    whole = x + kRound;
    whole -= kRound;
    rest = x - whole;
  }
}

// 1 + 2^x for what is divided by it, off by less than (2 + |x| / 10) 1e-7 of itself; beyond 126 it is only known to be
// huge.
template <typename V>
ASSAY_KERNEL inline void one_and_power(const V& given, V& out) {
  constexpr float kPowers[] = {1.000000072e+00F, 6.931469669e-01F, 2.402211951e-01F,
                               5.550713394e-02F, 9.675552797e-03F, 1.327646065e-03F};
  V power, rest;
  if constexpr (sizeof(V) == 64) {
    V whole;
    divide_up(given, whole, rest);
    short_polynomial(kPowers, rest, power);
    scale(power, whole, power);
    out = power + 1.0F;
  } else {  // infinity stays by the second summand, which is 1 otherwise
    V x, one;
    bound(given, -126.0F, 127.0F, x);
    const V rounded = x + kRound;
    rest = x - (rounded - kRound);
    short_polynomial(kPowers, rest, power);
    at_least(given - 126.0F, 1.0F, one);
    out = reinterpret_cast<V>(reinterpret_cast<Bits>(power) + (reinterpret_cast<Bits>(rounded) << 23)) + one;
  }
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

// From exp(-|x|), which does not overflow.
ASSAY_KERNEL inline void logistic(const Vector& x, Vector& out) {
  Vector size, one, shrunk, above;
  magnitude(x, size);
  falling_exponential(-size, shrunk);
  set(one, 1.0F);
  choose(x < Vector{}, shrunk, one, above);
  out = above / (shrunk + 1.0F);
}

// 2 atanh(s): s times 2 and a series in its square.
ASSAY_KERNEL inline void twice_area_tangent(const Vector& s, Vector& out) {
  constexpr float kOdd[] = {2.0F, 2.0F / 3, 2.0F / 5, 2.0F / 7, 2.0F / 9, 2.0F / 11, 2.0F / 13, 2.0F / 15};
  polynomial(kOdd, s * s, out);
  out *= s;
}

// ln(1 + x) for x from 0 to 1.
ASSAY_KERNEL inline void logarithm_of_one_and(const Vector& x, Vector& out) {
  const Vector ratio = x / (x + 2.0F);
  twice_area_tangent(ratio, out);
}

// e ln 2 + ln m with m from sqrt(1/2) to sqrt(2).
ASSAY_KERNEL inline void logarithm(const Vector& given, Vector& out) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLeastNormal = 1.17549435e-38F;
  constexpr int32_t kRootOfHalf = 0x3F3504F3;
  constexpr float kLn2High = 0.693145751953125F;
  constexpr float kLn2Low = 1.42860682030941723e-6F;
  Vector x, added, infinity;
  choose(given < kLeastNormal, given * 8388608.0F, given, x);
  choose(given < kLeastNormal, Vector{} - 23.0F, Vector{}, added);
  const Bits bits = reinterpret_cast<Bits>(x) - kRootOfHalf;
  const Vector exponent = __builtin_convertvector(bits >> 23, Vector) + added;
  const Vector less_one = reinterpret_cast<Vector>((bits & 0x7FFFFF) + kRootOfHalf) - 1.0F;
  Vector inner;
  twice_area_tangent(less_one / (less_one + 2.0F), inner);
  fused(exponent, kLn2Low, inner, inner);
  fused(exponent, kLn2High, inner, out);
  set(infinity, kInfinity);
  choose(given == infinity, given, out, out);
  choose(given == Vector{}, -infinity, out, out);
  choose((given < Vector{}) | (given != given), infinity - infinity, out, out);
}

// exp(x) - 1 for x not above 0.
ASSAY_KERNEL inline void exponential_less_one(const Vector& x, Vector& out) {
  constexpr float kSeries[] = {1, 1.0F / 2, 1.0F / 6, 1.0F / 24, 1.0F / 120, 1.0F / 720, 1.0F / 5040};
  Vector grown, small;
  falling_exponential(x, grown);
  polynomial(kSeries, x, small);
  choose(x > -0.35F, small * x, grown - 1.0F, out);
}

// sin(x + quarters * pi / 2), with x below 2^13 in size.
ASSAY_KERNEL inline void wave(const Vector& x, int32_t quarters, Vector& out) {
  constexpr float kTwoByPi = 0.636619772367581343F;
  // pi / 2 in three parts, of which a whole number times the first two is exact
  constexpr float kHigh = 1.5703125F;
  constexpr float kMiddle = 4.837512969970703125e-4F;
  constexpr float kLow = 7.54978995489188216e-8F;
  constexpr float kSine[] = {1, -1.0F / 6, 8.3333310e-3F, -1.9840874e-4F, 2.7525562e-6F};
  constexpr float kCosine[] = {1, -0.5F, 4.16666418e-2F, -1.388731625e-3F, 2.443315711e-5F};
  Vector turns, r;
  set(turns, kRound);
  fused(x, kTwoByPi, turns, turns);
  turns -= kRound;
  fused(turns, -kHigh, x, r);
  fused(turns, -kMiddle, r, r);
  fused(turns, -kLow, r, r);
  const Bits quadrant = __builtin_convertvector(turns, Bits) + quarters;
  Vector sine, cosine;
  polynomial(kSine, r * r, sine);
  sine *= r;
  polynomial(kCosine, r * r, cosine);
  choose((quadrant & 1) == 0, sine, cosine, out);
  out = reinterpret_cast<Vector>(reinterpret_cast<Bits>(out) ^ (quadrant & 2) << 30);
}
