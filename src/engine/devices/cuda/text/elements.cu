// The operations of the engine's table of elements, each on one element; its names are those of the table.
DEVICE float truth(bool x) { return x ? 1.0f : 0.0f; }

DEVICE float add(float a, float b) { return a + b; }
DEVICE float subtract(float a, float b) { return a - b; }
DEVICE float multiply(float a, float b) { return a * b; }
DEVICE float divide(float a, float b) { return a / b; }
DEVICE float maximum(float a, float b) { return a != a ? a : a > b ? a : b; }
DEVICE float minimum(float a, float b) { return a != a ? a : a < b ? a : b; }
DEVICE float power(float a, float b) { return powf(a, b); }
DEVICE float prelu(float a, float b) { return a < 0 ? a * b : a; }
DEVICE float less(float a, float b) { return truth(a < b); }
DEVICE float greater(float a, float b) { return truth(a > b); }
DEVICE float less_or_equal(float a, float b) { return truth(a <= b); }
DEVICE float greater_or_equal(float a, float b) { return truth(a >= b); }
DEVICE float equal(float a, float b) { return truth(a == b); }
DEVICE float logical_and(float a, float b) { return truth(a != 0 && b != 0); }
DEVICE float logical_or(float a, float b) { return truth(a != 0 || b != 0); }
DEVICE float logical_xor(float a, float b) { return truth((a != 0) != (b != 0)); }
DEVICE float select(float a, float b, float c) { return a != 0 ? b : c; }
DEVICE float copy(float a) { return a; }
DEVICE float round_to_bfloat16(float a) { return a != a ? a : widened(to_bfloat(a)); }
DEVICE float round_to_float16(float a) { return widened(to_half(a)); }
DEVICE float bounded(float a, float low, float high) { return a < low ? low : a > high ? high : a; }
DEVICE float dequantize(float a, float p, float q) { return (a - q) * p; }
DEVICE float quantized(float a, float p, float q, float least) {
  const float near = rintf(bounded(a / p, -1048576.0f, 1048576.0f));
  return bounded(near == near ? near + q : least, least, least + 255.0f);
}
DEVICE float quantize_signed(float a, float p, float q) { return quantized(a, p, q, -128.0f); }
DEVICE float quantize_unsigned(float a, float p, float q) { return quantized(a, p, q, 0.0f); }
// The quotient by p, whose reciprocal is q, as a division rounds it; one that is too large for float8 need not be exact.
DEVICE float quotient_of(float a, float p, float q) {
  const float near = a * q, exact = fmaf(fmaf(-near, p, a), q, near);
  return fabsf(near) < 65536.0f ? exact : near;
}
DEVICE float quantize_e4m3(float a, float p, float q) { return nearest_e4m3(quotient_of(a, p, q)); }
DEVICE float quantize_e5m2(float a, float p, float q) {
  return nearest_of_eight(quotient_of(a, p, q), 0x38800000u, 21, 57344.0f);
}
DEVICE float cube(float a) { return a * a * a; }
DEVICE float relu(float a) { return a < 0 ? 0.0f : a; }
DEVICE float leaky_relu(float a, float p) { return a < 0 ? a * p : a; }
DEVICE float sigmoid(float a) { return 1.0f / (1.0f + expf(-a)); }
DEVICE float silu(float a) { return a / (1.0f + expf(-a)); }
DEVICE float elu(float a, float p) { return a < 0 ? expm1f(a) * p : a; }
DEVICE float selu(float a, float p, float q) { return (a < 0 ? expm1f(a) * p : a) * q; }
DEVICE float hard_swish(float a) { return a * bounded(a * (1.0f / 6.0f) + 0.5f, 0.0f, 1.0f); }
DEVICE float shifted_swish(float a, float p, float q) { return a * (bounded(a + p, 0.0f, q) * (1.0f / q)); }
DEVICE float scaled_sum(float a, float p, float q) { return a * p + q; }
DEVICE float hard_sigmoid(float a, float p, float q) { return bounded(a * p + q, 0.0f, 1.0f); }
DEVICE float softplus(float a) { return (a < 0 ? 0.0f : a) + log1pf(expf(-fabsf(a))); }
DEVICE float softsign(float a) { return a / (1.0f + fabsf(a)); }
DEVICE float gelu(float a) { return a * 0.5f * (erff(a * 0.707106781186547524f) + 1.0f); }
DEVICE float gelu_tanh(float a) {
  return a / (1.0f + expf((a * a * a * 0.044715f + a) * -1.59576912160573071f));
}
// The same for results of 16 bits, with errors below 4e-6 of them.
DEVICE float quick_exp(float a) { return quick_exp2(a * 1.44269504088896341f); }
DEVICE float short_sigmoid(float a) { return quick_reciprocal(1.0f + quick_exp(-a)); }
DEVICE float short_silu(float a) { return a * short_sigmoid(a); }
DEVICE float short_gelu_tanh(float a) { return a * short_sigmoid((a * a * a * 0.044715f + a) * 1.59576912160573071f); }
// The share of a normal distribution below a, by a polynomial of its odds' binary logarithm in a * a.
DEVICE float short_gelu(float a) {
  const float square = a * a;
  float p = 1.5855233793e-12f;
  p = fmaf(p, square, -2.5021165348e-10f);
  p = fmaf(p, square, 1.6782861360e-08f);
  p = fmaf(p, square, -6.2643026902e-07f);
  p = fmaf(p, square, 1.4031198549e-05f);
  p = fmaf(p, square, -1.7383481535e-04f);
  p = fmaf(p, square, -5.5213819845e-05f);
  p = fmaf(p, square, 1.0479011730e-01f);
  p = fmaf(p, square, 2.3022238312f);
  return a * quick_reciprocal(1.0f + quick_exp2(-a * p));
}
DEVICE float mish(float a) {
  const float e = expf(a > 20.0f ? 20.0f : a);
  const float t = e * (e + 2.0f);
  return a > 20.0f ? a : a * (t / (t + 2.0f));
}
DEVICE float reciprocal(float a) { return 1.0f / a; }
DEVICE float negate(float a) { return -a; }
DEVICE float absolute(float a) { return fabsf(a); }
DEVICE float clip(float a, float p, float q) { return bounded(a, p, q); }
DEVICE float sign(float a) { return a != a ? a : a == 0 ? 0.0f : a < 0 ? -1.0f : 1.0f; }
DEVICE float celu(float a, float p) { return a < 0 ? expm1f(a / p) * p : a; }
DEVICE float thresholded_relu(float a, float p) { return a > p ? a : 0.0f; }
DEVICE float logical_not(float a) { return truth(a == 0); }
DEVICE float is_true(float a) { return truth(a != 0); }
DEVICE float is_nan(float a) { return truth(a != a); }
DEVICE float is_infinite(float a, float p, float q) {
  return truth((p != 0 && a == kInfinity) || (q != 0 && a == -kInfinity));
}

// Exact operations of whole numbers, wrapping round, and of float64.
template <typename T>
struct Whole {
  static const bool value = true;
};
template <>
struct Whole<double> {
  static const bool value = false;
};
template <typename T>
DEVICE T exact_add(T a, T b) {
  if constexpr (Whole<T>::value) return (T)((uint64)a + (uint64)b);
  return a + b;
}
template <typename T>
DEVICE T exact_subtract(T a, T b) {
  if constexpr (Whole<T>::value) return (T)((uint64)a - (uint64)b);
  return a - b;
}
template <typename T>
DEVICE T exact_multiply(T a, T b) {
  if constexpr (Whole<T>::value) return (T)((uint64)a * (uint64)b);
  return a * b;
}
template <typename T>
DEVICE T exact_negate(T a) {
  if constexpr (Whole<T>::value) return (T)(0 - (uint64)a);
  return -a;
}
template <typename T>
DEVICE T exact_divide(T a, T b) {
  if constexpr (Whole<T>::value) {
    if (b == 0) return 0;
    if ((T)-1 < 0 && b == (T)-1) return exact_negate(a);
  }
  return (T)(a / b);
}
template <typename T>
DEVICE T exact_remainder(T a, T b) {
  return b == 0 ? (T)0 : exact_subtract(a, exact_multiply(exact_divide(a, b), b));
}
template <typename T>
DEVICE T exact_modulo(T a, T b) {
  const T rest = exact_remainder(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? (T)(rest + b) : rest;
}
template <typename T>
DEVICE T exact_maximum(T a, T b) {
  return b > a ? b : a;
}
template <typename T>
DEVICE T exact_minimum(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
DEVICE T exact_clip(T a, T low, T high) {
  return exact_minimum(exact_maximum(a, low), high);
}
template <typename T>
DEVICE uint8 exact_less(T a, T b) {
  return a < b;
}
template <typename T>
DEVICE uint8 exact_greater(T a, T b) {
  return a > b;
}
template <typename T>
DEVICE uint8 exact_less_or_equal(T a, T b) {
  return a <= b;
}
template <typename T>
DEVICE uint8 exact_greater_or_equal(T a, T b) {
  return a >= b;
}
template <typename T>
DEVICE uint8 exact_equal(T a, T b) {
  return a == b;
}
template <typename T>
DEVICE T exact_absolute(T a) {
  return a < 0 ? exact_negate(a) : a;
}
template <typename T>
DEVICE T exact_sign(T a) {
  return a != a ? a : (T)((a > 0) - (a < 0));
}
template <typename T>
DEVICE T exact_select(uint8 a, T b, T c) {
  return a != 0 ? b : c;
}
template <typename T>
DEVICE T exact_bits_and(T a, T b) {
  return (T)(a & b);
}
template <typename T>
DEVICE T exact_bits_or(T a, T b) {
  return (T)(a | b);
}
template <typename T>
DEVICE T exact_bits_xor(T a, T b) {
  return (T)(a ^ b);
}
template <typename T>
DEVICE T exact_bits_not(T a) {
  return (T)~a;
}
template <typename T>
DEVICE T exact_shift_left(T a, T by) {
  return (uint64)by >= sizeof(T) * 8 ? (T)0 : (T)((uint64)a << by);
}
template <typename T>
DEVICE T exact_shift_right(T a, T by) {
  return (uint64)by >= sizeof(T) * 8 ? (T)(a < 0 ? -1 : 0) : (T)(a >> by);
}

// What a cast gives that the processor of a host gives: the least number where a float does not fit.
template <typename W, typename F>
DEVICE W truncated(F x, F least) {
  return x >= least && x < -least ? (W)x : (W)least;
}
template <typename T>
struct Cast {
  template <typename F>
  DEVICE static T of(F x) {
    return (T)x;
  }
  DEVICE static T of(double x) {
    if constexpr (sizeof(T) < 8) return (T)truncated<int32>(x, -2147483648.0);
    return (T)truncated<int64>(x, -9223372036854775808.0);
  }
  DEVICE static T of(float x) { return of((double)x); }
};
template <>
struct Cast<uint64> {
  template <typename F>
  DEVICE static uint64 of(F x) {
    return (uint64)x;
  }
  DEVICE static uint64 of(double x) {
    const bool is_high = x >= 9223372036854775808.0;
    const uint64 low = (uint64)truncated<int64>(is_high ? x - 9223372036854775808.0 : x, -9223372036854775808.0);
    return is_high ? low + (1ull << 63) : low;
  }
  DEVICE static uint64 of(float x) { return of((double)x); }
};
template <>
struct Cast<uint32> {
  template <typename F>
  DEVICE static uint32 of(F x) {
    return (uint32)x;
  }
  DEVICE static uint32 of(double x) {
    const bool is_high = x >= 2147483648.0;
    const uint32 low = (uint32)truncated<int32>(is_high ? x - 2147483648.0 : x, -2147483648.0);
    return is_high ? low + (1u << 31) : low;
  }
  DEVICE static uint32 of(float x) { return of((double)x); }
};
template <>
struct Cast<float> {
  template <typename F>
  DEVICE static float of(F x) {
    return (float)x;
  }
};
template <>
struct Cast<double> {
  template <typename F>
  DEVICE static double of(F x) {
    return (double)x;
  }
};
