// The loops of tape_kernels.h; a body of instruction_sets_body.h.

#include "engine/devices/cpu/tape/error_function_body.h"

struct Numbers {
  float p;
  float q;
};

template <typename V>
ASSAY_KERNEL inline void square_root(const V& x, V& out) {
  if constexpr (sizeof(V) == 64) {
    out = _mm512_maskz_sqrt_ps(0xFFFF, x);  // GCC 12 warns of the plain one (its bug 105593)
  } else if constexpr (sizeof(V) == 32) {
    out = _mm256_sqrt_ps(x);
  } else {
    for (size_t i = 0; i < sizeof(V) / sizeof(float); ++i) out[i] = std::sqrt(x[i]);
  }
}

// a / b for b from 1 on, within 1.5 ULP: of a vector of 64 bytes a division takes longer than all the rest of a SiLU.
template <typename V>
ASSAY_KERNEL inline void divided(const V& a, const V& b, V& out) {
  if constexpr (sizeof(V) == 64) {
    V one, infinity;
    set(one, 1);
    set(infinity, std::numeric_limits<float>::infinity());
    const V near = _mm512_maskz_rcp14_ps(kAllLanes, b);
    const V rest = _mm512_fnmadd_ps(b, near, one);
    out = a * _mm512_mask_fmadd_ps(near, _mm512_cmp_ps_mask(b, infinity, _CMP_NEQ_UQ), rest, near);
  } else {
    out = a / b;
  }
}

ASSAY_KERNEL inline void truth(Bits yes, Vector& out) {
  Vector one;
  set(one, 1);
  choose(yes, one, Vector{}, out);
}

template <ElementOp kOp>
ASSAY_KERNEL inline void apply_binary(const Vector& a, const Vector& b, Vector& out) {
  Vector t;
  if constexpr (kOp == ElementOp::add) out = a + b;
  if constexpr (kOp == ElementOp::subtract) out = a - b;
  if constexpr (kOp == ElementOp::multiply) out = a * b;
  if constexpr (kOp == ElementOp::divide) out = a / b;
  if constexpr (kOp == ElementOp::maximum) {
    choose(a > b, a, b, t);
    choose(a != a, a, t, out);
  }
  if constexpr (kOp == ElementOp::minimum) {
    choose(a < b, a, b, t);
    choose(a != a, a, t, out);
  }
  if constexpr (kOp == ElementOp::prelu) choose(a < Vector{}, a * b, a, out);
  if constexpr (kOp == ElementOp::less) truth(a < b, out);
  if constexpr (kOp == ElementOp::greater) truth(a > b, out);
  if constexpr (kOp == ElementOp::less_or_equal) truth(a <= b, out);
  if constexpr (kOp == ElementOp::greater_or_equal) truth(a >= b, out);
  if constexpr (kOp == ElementOp::equal) truth(a == b, out);
  if constexpr (kOp == ElementOp::logical_and) truth((a != Vector{}) & (b != Vector{}), out);
  if constexpr (kOp == ElementOp::logical_or) truth((a != Vector{}) | (b != Vector{}), out);
  if constexpr (kOp == ElementOp::logical_xor) truth((a != Vector{}) ^ (b != Vector{}), out);
}

template <ElementOp kOp>
ASSAY_KERNEL inline void apply_activation(const Vector& a, const Numbers& numbers, Vector& out) {
  Vector t;
  if constexpr (kOp == ElementOp::relu) choose(a < Vector{}, Vector{}, a, out);
  if constexpr (kOp == ElementOp::leaky_relu) choose(a < Vector{}, a * numbers.p, a, out);
  if constexpr (kOp == ElementOp::sigmoid) logistic(a, out);
  if constexpr (kOp == ElementOp::silu) {
    one_and_power(a * -kLog2e, t);
    divided(a, t, out);
  }
  if constexpr (kOp == ElementOp::tanh) hyperbolic_tangent(a, out);
  if constexpr (kOp == ElementOp::hard_swish) {
    bound(a * (1.0F / 6.0F) + 0.5F, 0, 1, t);
    out = a * t;
  }
  if constexpr (kOp == ElementOp::shifted_swish) {
    bound(a + numbers.p, 0, numbers.q, t);
    out = a * (t * (1.0F / numbers.q));
  }
  if constexpr (kOp == ElementOp::scaled_sum) out = a * numbers.p + numbers.q;
  if constexpr (kOp == ElementOp::hard_sigmoid) bound(a * numbers.p + numbers.q, 0, 1, out);
  if constexpr (kOp == ElementOp::softsign) {
    magnitude(a, t);
    out = a / (t + 1.0F);
  }
  if constexpr (kOp == ElementOp::gelu) gelu(a, out);
  if constexpr (kOp == ElementOp::gelu_tanh) {
    // (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u))
    one_and_power((a * a * a * 0.044715F + a) * (-1.59576912160573071F * kLog2e), t);
    divided(a, t, out);
  }
}

// To the nearest whole number, ties to even, between `least` and `least` + 255; NaN becomes `least`.
ASSAY_KERNEL inline void quantized(const Vector& x, const Numbers& numbers, float least, Vector& out) {
  constexpr float kFar = 1048576;
  Vector near, low;
  bound(x / numbers.p, -kFar, kFar, near);
  near += kRound;
  near -= kRound;
  set(low, least);
  choose(near == near, near + numbers.q, low, near);
  bound(near, least, least + 255, out);
}

// The nearest number of float8 with so many bits behind the point and that exponent of the least normal one, ties to
// even, at most `most`; NaN stays.
template <int kBits, int kLeast>
ASSAY_KERNEL inline void eighth(const Vector& x, const Numbers& numbers, float most, Vector& out) {
  constexpr int kMantissa = 23, kBias = 127;
  Vector near, far;
  bound(x / numbers.p, -most, most, near);
  const Bits bits = reinterpret_cast<Bits>(near);
  Bits exponent = bits & 0x7F800000, least{};
  least += (kBias + kLeast) << kMantissa;
  exponent = exponent > least ? exponent : least;
  far = reinterpret_cast<Vector>(exponent + ((kMantissa - kBits) << kMantissa)) * 1.5F;
  out =
      reinterpret_cast<Vector>(reinterpret_cast<Bits>((near + far) - far) | (bits & static_cast<int32_t>(0x80000000)));
}

// The nearest number of eight bits, ties to even; NaN stays.
ASSAY_KERNEL inline void rounded(const Vector& x, Vector& out) {
  const Bits bits = reinterpret_cast<Bits>(x);
  const Bits nearest = (bits + 0x7FFF + (bits >> 16 & 1)) & static_cast<int32_t>(0xFFFF0000);
  choose(x != x, x, reinterpret_cast<Vector>(nearest), out);
}

// To a whole number: the nearest, that below or that above. Zeros keep the sign of what they are made of.
ASSAY_KERNEL inline void whole(const Vector& x, int direction, Vector& out) {
  constexpr float kFirstWhole = 8388608;  // 2^23: from here on, all are
  Vector size;
  magnitude(x, size);
  Vector near = size + kFirstWhole;
  near -= kFirstWhole;
  with_sign_of(x, near);
  Vector moved = near;
  if (direction < 0) choose(near > x, near - 1.0F, near, moved);
  if (direction > 0) choose(near < x, near + 1.0F, near, moved);
  with_sign_of(x, moved);
  choose(size < kFirstWhole, moved, x, out);
}

ASSAY_KERNEL inline void sign(const Vector& x, Vector& out) {
  Vector one;
  set(one, 1);
  with_sign_of(x, one);
  choose(x == Vector{}, Vector{}, one, out);
  choose(x != x, x, out, out);
}

template <ElementOp kOp>
ASSAY_KERNEL inline void apply_smooth(const Vector& a, const Numbers& numbers, Vector& out) {
  Vector t;
  if constexpr (kOp == ElementOp::log) logarithm(a, out);
  if constexpr (kOp == ElementOp::softplus) {
    magnitude(a, t);
    falling_exponential(-t, t);
    logarithm_of_one_and(t, t);
    choose(a < Vector{}, Vector{}, a, out);
    out += t;
  }
  if constexpr (kOp == ElementOp::mish) {  // tanh(ln(1 + e)) = e(e + 2) / (e(e + 2) + 2)
    constexpr float kEnough = 20;          // from here on, it is x
    Vector enough;
    set(enough, kEnough);
    choose(a > enough, enough, a, t);
    exponential(t, t);
    t *= t + 2.0F;
    choose(a > enough, a, a * (t / (t + 2.0F)), out);
  }
  if constexpr (kOp == ElementOp::elu) {
    exponential_less_one(a, t);
    choose(a < Vector{}, t * numbers.p, a, out);
  }
  if constexpr (kOp == ElementOp::selu) {
    exponential_less_one(a, t);
    choose(a < Vector{}, t * numbers.p, a, out);
    out *= numbers.q;
  }
  if constexpr (kOp == ElementOp::celu) {
    exponential_less_one(a / numbers.p, t);
    choose(a < Vector{}, t * numbers.p, a, out);
  }
  if constexpr (kOp == ElementOp::sqrt) square_root(a, out);
}

template <ElementOp kOp>
ASSAY_KERNEL inline void apply_simple(const Vector& a, const Numbers& numbers, Vector& out) {
  if constexpr (kOp == ElementOp::floor) whole(a, -1, out);
  if constexpr (kOp == ElementOp::ceil) whole(a, 1, out);
  if constexpr (kOp == ElementOp::round) whole(a, 0, out);
  if constexpr (kOp == ElementOp::sign) sign(a, out);
  if constexpr (kOp == ElementOp::thresholded_relu) choose(a > numbers.p, a, Vector{}, out);
  if constexpr (kOp == ElementOp::logical_not) truth(a == Vector{}, out);
  if constexpr (kOp == ElementOp::is_true) truth(a != Vector{}, out);
  if constexpr (kOp == ElementOp::is_nan) truth(a != a, out);
  if constexpr (kOp == ElementOp::is_infinite) {
    Vector infinity;
    set(infinity, std::numeric_limits<float>::infinity());
    const Bits above = (a == infinity) & (numbers.p != 0 ? -1 : 0);
    const Bits below = (a == -infinity) & (numbers.q != 0 ? -1 : 0);
    truth(above | below, out);
  }
}

template <ElementOp kOp>
ASSAY_KERNEL inline void apply_function(const Vector& a, const Numbers& numbers, Vector& out) {
  if constexpr (kOp == ElementOp::copy) out = a;
  if constexpr (kOp == ElementOp::round_to_bfloat16) rounded(a, out);
  if constexpr (kOp == ElementOp::dequantize) out = (a - numbers.q) * numbers.p;
  if constexpr (kOp == ElementOp::quantize_signed) quantized(a, numbers, -128, out);
  if constexpr (kOp == ElementOp::quantize_unsigned) quantized(a, numbers, 0, out);
  if constexpr (kOp == ElementOp::quantize_e4m3) eighth<3, -6>(a, numbers, 448, out);
  if constexpr (kOp == ElementOp::quantize_e5m2) eighth<2, -14>(a, numbers, 57344, out);
  if constexpr (kOp == ElementOp::cube) out = a * a * a;
  if constexpr (kOp == ElementOp::erf) error_function(a, out);
  if constexpr (kOp == ElementOp::exp) exponential(a, out);
  if constexpr (kOp == ElementOp::reciprocal) out = 1.0F / a;
  if constexpr (kOp == ElementOp::negate) out = -a;
  if constexpr (kOp == ElementOp::abs) magnitude(a, out);
  if constexpr (kOp == ElementOp::clip) bound(a, numbers.p, numbers.q, out);
}

template <ElementOp kOp>
ASSAY_KERNEL void loop(TapeView a, TapeView b, TapeTarget out, float p, float q) {
  for (size_t r = 0; r < out.rows; ++r, a.first += a.row, b.first += b.row, out.first += out.row) {
    for (size_t i = 0; i < out.columns; i += kWidth) {
      const Vector x = at(a.first + i).lanes;
      Vector result;
      if constexpr (kOp <= kLastBinary) {
        const Vector y = at(b.first + i).lanes;
        apply_binary<kOp>(x, y, result);
      } else {
        apply_activation<kOp>(x, Numbers{p, q}, result);
        apply_function<kOp>(x, Numbers{p, q}, result);
        apply_smooth<kOp>(x, Numbers{p, q}, result);
        apply_simple<kOp>(x, Numbers{p, q}, result);
      }
      at(out.first + i).lanes = result;
    }
  }
}

ASSAY_KERNEL void select(TapeView a, TapeView b, TapeView c, TapeTarget out) {
  for (size_t r = 0; r < out.rows; ++r, a.first += a.row, b.first += b.row, c.first += c.row, out.first += out.row) {
    for (size_t i = 0; i < out.columns; i += kWidth) {
      const Vector which = at(a.first + i).lanes;
      const Vector x = at(b.first + i).lanes;
      const Vector y = at(c.first + i).lanes;
      Vector result;
      choose(which != Vector{}, x, y, result);
      at(out.first + i).lanes = result;
    }
  }
}

// Sines, or cosines, which are a quarter of a turn ahead.
ASSAY_KERNEL void waves(ElementOp op, TapeView a, TapeTarget out, int32_t quarters) {
  constexpr float kFar = 8192;
  for (size_t r = 0; r < out.rows; ++r, a.first += a.row, out.first += out.row) {
    for (size_t i = 0; i < out.columns; i += kWidth) {
      const Vector x = at(a.first + i).lanes;
      Vector result;
      wave(x, quarters, result);
      for (size_t lane = 0; lane < kWidth; ++lane) {
        if (!(x[lane] > -kFar && x[lane] < kFar)) result[lane] = scalar(op, x[lane]);
      }
      at(out.first + i).lanes = result;
    }
  }
}

void powers(TapeView a, TapeView b, TapeTarget out) {
  for (size_t r = 0; r < out.rows; ++r, a.first += a.row, b.first += b.row, out.first += out.row) {
    for (size_t i = 0; i < out.columns; ++i) out.first[i] = std::pow(a.first[i], b.first[i]);
  }
}

template <ElementOp kOp>
ASSAY_KERNEL void run(TapeView a, TapeView b, TapeTarget out, float p, float q) {
  if constexpr (kOp == ElementOp::power)
    powers(a, b, out);
  else if constexpr (kOp == ElementOp::sine || kOp == ElementOp::cosine)
    waves(kOp, a, out, kOp == ElementOp::cosine ? 1 : 0);
  else if constexpr (kOp != ElementOp::select && kOp != ElementOp::round_to_float16)
    loop<kOp>(a, b, out, p, q);
}

template <size_t... kI>
constexpr auto runs(std::index_sequence<kI...>) {
  return std::array{run<static_cast<ElementOp>(kI)>...};
}
constexpr auto kRuns = runs(std::make_index_sequence<static_cast<size_t>(kLastOfFloats) + 1>());

void binary(ElementOp op, TapeView a, TapeView b, TapeTarget out) { kRuns[static_cast<size_t>(op)](a, b, out, 0, 0); }
void unary(ElementOp op, TapeView a, TapeTarget out, float p, float q) {
  kRuns[static_cast<size_t>(op)](a, a, out, p, q);
}

ASSAY_KERNEL void spread(TapeView a, TapeTarget out) {
  for (size_t r = 0; r < out.rows; ++r, a.first += a.row, out.first += out.row) {
    Vector all;
    set(all, *a.first);
    for (size_t i = 0; i < out.columns; i += kWidth) at(out.first + i).lanes = all;
  }
}

constexpr TapeKernels kKernels = {kName, binary, select, unary, spread};
