// The loops of tape_kernels.h for vectors of kBytes; included by tape_kernels.cpp once for each instruction set, in a
// namespace of its own, with ASSAY_KERNEL saying which.

#include "engine/devices/cpu/tape/error_function_body.h"

struct Numbers {
  float p;
  float q;
};

ASSAY_KERNEL inline void truth(Bits yes, Vector& out) {
  Vector one;
  set(one, 1);
  choose(yes, one, Vector{}, out);
}

template <TapeOp kOp>
ASSAY_KERNEL inline void apply_binary(const Vector& a, const Vector& b, Vector& out) {
  Vector t;
  if constexpr (kOp == TapeOp::add) out = a + b;
  if constexpr (kOp == TapeOp::subtract) out = a - b;
  if constexpr (kOp == TapeOp::multiply) out = a * b;
  if constexpr (kOp == TapeOp::divide) out = a / b;
  if constexpr (kOp == TapeOp::maximum) {
    choose(a > b, a, b, t);
    choose(a != a, a, t, out);
  }
  if constexpr (kOp == TapeOp::minimum) {
    choose(a < b, a, b, t);
    choose(a != a, a, t, out);
  }
  if constexpr (kOp == TapeOp::prelu) choose(a < Vector{}, a * b, a, out);
  if constexpr (kOp == TapeOp::less) truth(a < b, out);
  if constexpr (kOp == TapeOp::greater) truth(a > b, out);
  if constexpr (kOp == TapeOp::less_or_equal) truth(a <= b, out);
  if constexpr (kOp == TapeOp::greater_or_equal) truth(a >= b, out);
  if constexpr (kOp == TapeOp::equal) truth(a == b, out);
  if constexpr (kOp == TapeOp::logical_and) truth((a != Vector{}) & (b != Vector{}), out);
  if constexpr (kOp == TapeOp::logical_or) truth((a != Vector{}) | (b != Vector{}), out);
  if constexpr (kOp == TapeOp::logical_xor) truth((a != Vector{}) ^ (b != Vector{}), out);
}

template <TapeOp kOp>
ASSAY_KERNEL inline void apply_activation(const Vector& a, const Numbers& numbers, Vector& out) {
  Vector t;
  if constexpr (kOp == TapeOp::relu) choose(a < Vector{}, Vector{}, a, out);
  if constexpr (kOp == TapeOp::leaky_relu) choose(a < Vector{}, a * numbers.p, a, out);
  if constexpr (kOp == TapeOp::sigmoid) logistic(a, out);
  if constexpr (kOp == TapeOp::silu) {
    one_and_power(a * -kLog2e, t);
    out = a / t;
  }
  if constexpr (kOp == TapeOp::tanh) hyperbolic_tangent(a, out);
  if constexpr (kOp == TapeOp::hard_swish) {
    bound(a * (1.0F / 6.0F) + 0.5F, 0, 1, t);
    out = a * t;
  }
  if constexpr (kOp == TapeOp::shifted_swish) {
    bound(a + numbers.p, 0, numbers.q, t);
    out = a * (t * (1.0F / numbers.q));
  }
  if constexpr (kOp == TapeOp::scaled_sum) out = a * numbers.p + numbers.q;
  if constexpr (kOp == TapeOp::hard_sigmoid) bound(a * numbers.p + numbers.q, 0, 1, out);
  if constexpr (kOp == TapeOp::softsign) {
    magnitude(a, t);
    out = a / (t + 1.0F);
  }
  if constexpr (kOp == TapeOp::gelu) {
    error_function(a * 0.707106781186547524F, t);
    out = a * 0.5F * (t + 1.0F);
  }
  if constexpr (kOp == TapeOp::gelu_tanh) {
    // (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u))
    one_and_power((a * a * a * 0.044715F + a) * (-1.59576912160573071F * kLog2e), t);
    out = a / t;
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

template <TapeOp kOp>
ASSAY_KERNEL inline void apply_smooth(const Vector& a, const Numbers& numbers, Vector& out) {
  Vector t;
  if constexpr (kOp == TapeOp::log) logarithm(a, out);
  if constexpr (kOp == TapeOp::softplus) {
    magnitude(a, t);
    falling_exponential(-t, t);
    logarithm_of_one_and(t, t);
    choose(a < Vector{}, Vector{}, a, out);
    out += t;
  }
  if constexpr (kOp == TapeOp::mish) {  // tanh(ln(1 + e)) = e(e + 2) / (e(e + 2) + 2)
    constexpr float kEnough = 20;       // from here on, it is x
    Vector enough;
    set(enough, kEnough);
    choose(a > enough, enough, a, t);
    exponential(t, t);
    t *= t + 2.0F;
    choose(a > enough, a, a * (t / (t + 2.0F)), out);
  }
  if constexpr (kOp == TapeOp::elu) {
    exponential_less_one(a, t);
    choose(a < Vector{}, t * numbers.p, a, out);
  }
  if constexpr (kOp == TapeOp::selu) {
    exponential_less_one(a, t);
    choose(a < Vector{}, t * numbers.p, a, out);
    out *= numbers.q;
  }
  if constexpr (kOp == TapeOp::celu) {
    exponential_less_one(a / numbers.p, t);
    choose(a < Vector{}, t * numbers.p, a, out);
  }
  if constexpr (kOp == TapeOp::sqrt) square_root(a, out);
}

template <TapeOp kOp>
ASSAY_KERNEL inline void apply_simple(const Vector& a, const Numbers& numbers, Vector& out) {
  if constexpr (kOp == TapeOp::floor) whole(a, -1, out);
  if constexpr (kOp == TapeOp::ceil) whole(a, 1, out);
  if constexpr (kOp == TapeOp::round) whole(a, 0, out);
  if constexpr (kOp == TapeOp::sign) sign(a, out);
  if constexpr (kOp == TapeOp::thresholded_relu) choose(a > numbers.p, a, Vector{}, out);
  if constexpr (kOp == TapeOp::logical_not) truth(a == Vector{}, out);
  if constexpr (kOp == TapeOp::is_true) truth(a != Vector{}, out);
  if constexpr (kOp == TapeOp::is_nan) truth(a != a, out);
  if constexpr (kOp == TapeOp::is_infinite) {
    Vector infinity;
    set(infinity, std::numeric_limits<float>::infinity());
    const Bits above = (a == infinity) & (numbers.p != 0 ? -1 : 0);
    const Bits below = (a == -infinity) & (numbers.q != 0 ? -1 : 0);
    truth(above | below, out);
  }
}

template <TapeOp kOp>
ASSAY_KERNEL inline void apply_function(const Vector& a, const Numbers& numbers, Vector& out) {
  if constexpr (kOp == TapeOp::copy) out = a;
  if constexpr (kOp == TapeOp::round_to_bfloat16) rounded(a, out);
  if constexpr (kOp == TapeOp::dequantize) out = (a - numbers.q) * numbers.p;
  if constexpr (kOp == TapeOp::quantize_signed) quantized(a, numbers, -128, out);
  if constexpr (kOp == TapeOp::quantize_unsigned) quantized(a, numbers, 0, out);
  if constexpr (kOp == TapeOp::cube) out = a * a * a;
  if constexpr (kOp == TapeOp::erf) error_function(a, out);
  if constexpr (kOp == TapeOp::exp) exponential(a, out);
  if constexpr (kOp == TapeOp::reciprocal) out = 1.0F / a;
  if constexpr (kOp == TapeOp::negate) out = -a;
  if constexpr (kOp == TapeOp::abs) magnitude(a, out);
  if constexpr (kOp == TapeOp::clip) bound(a, numbers.p, numbers.q, out);
}

template <TapeOp kOp>
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
ASSAY_KERNEL void waves(TapeOp op, TapeView a, TapeTarget out, int32_t quarters) {
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

ASSAY_KERNEL void binary(TapeOp op, TapeView a, TapeView b, TapeTarget out) {
  switch (op) {
    case TapeOp::add:
      return loop<TapeOp::add>(a, b, out, 0, 0);
    case TapeOp::subtract:
      return loop<TapeOp::subtract>(a, b, out, 0, 0);
    case TapeOp::multiply:
      return loop<TapeOp::multiply>(a, b, out, 0, 0);
    case TapeOp::divide:
      return loop<TapeOp::divide>(a, b, out, 0, 0);
    case TapeOp::maximum:
      return loop<TapeOp::maximum>(a, b, out, 0, 0);
    case TapeOp::minimum:
      return loop<TapeOp::minimum>(a, b, out, 0, 0);
    case TapeOp::prelu:
      return loop<TapeOp::prelu>(a, b, out, 0, 0);
    case TapeOp::less:
      return loop<TapeOp::less>(a, b, out, 0, 0);
    case TapeOp::greater:
      return loop<TapeOp::greater>(a, b, out, 0, 0);
    case TapeOp::less_or_equal:
      return loop<TapeOp::less_or_equal>(a, b, out, 0, 0);
    case TapeOp::greater_or_equal:
      return loop<TapeOp::greater_or_equal>(a, b, out, 0, 0);
    case TapeOp::equal:
      return loop<TapeOp::equal>(a, b, out, 0, 0);
    case TapeOp::logical_and:
      return loop<TapeOp::logical_and>(a, b, out, 0, 0);
    case TapeOp::logical_or:
      return loop<TapeOp::logical_or>(a, b, out, 0, 0);
    case TapeOp::logical_xor:
      return loop<TapeOp::logical_xor>(a, b, out, 0, 0);
    default:
      return powers(a, b, out);
  }
}

ASSAY_KERNEL void unary(TapeOp op, TapeView a, TapeTarget out, float p, float q) {
  switch (op) {
    case TapeOp::cube:
      return loop<TapeOp::cube>(a, a, out, p, q);
    case TapeOp::dequantize:
      return loop<TapeOp::dequantize>(a, a, out, p, q);
    case TapeOp::quantize_signed:
      return loop<TapeOp::quantize_signed>(a, a, out, p, q);
    case TapeOp::quantize_unsigned:
      return loop<TapeOp::quantize_unsigned>(a, a, out, p, q);
    case TapeOp::round_to_bfloat16:
      return loop<TapeOp::round_to_bfloat16>(a, a, out, p, q);
    case TapeOp::copy:
      return loop<TapeOp::copy>(a, a, out, p, q);
    case TapeOp::relu:
      return loop<TapeOp::relu>(a, a, out, p, q);
    case TapeOp::leaky_relu:
      return loop<TapeOp::leaky_relu>(a, a, out, p, q);
    case TapeOp::sigmoid:
      return loop<TapeOp::sigmoid>(a, a, out, p, q);
    case TapeOp::tanh:
      return loop<TapeOp::tanh>(a, a, out, p, q);
    case TapeOp::hard_swish:
      return loop<TapeOp::hard_swish>(a, a, out, p, q);
    case TapeOp::shifted_swish:
      return loop<TapeOp::shifted_swish>(a, a, out, p, q);
    case TapeOp::scaled_sum:
      return loop<TapeOp::scaled_sum>(a, a, out, p, q);
    case TapeOp::silu:
      return loop<TapeOp::silu>(a, a, out, p, q);
    case TapeOp::hard_sigmoid:
      return loop<TapeOp::hard_sigmoid>(a, a, out, p, q);
    case TapeOp::softsign:
      return loop<TapeOp::softsign>(a, a, out, p, q);
    case TapeOp::gelu:
      return loop<TapeOp::gelu>(a, a, out, p, q);
    case TapeOp::gelu_tanh:
      return loop<TapeOp::gelu_tanh>(a, a, out, p, q);
    case TapeOp::erf:
      return loop<TapeOp::erf>(a, a, out, p, q);
    case TapeOp::exp:
      return loop<TapeOp::exp>(a, a, out, p, q);
    case TapeOp::reciprocal:
      return loop<TapeOp::reciprocal>(a, a, out, p, q);
    case TapeOp::negate:
      return loop<TapeOp::negate>(a, a, out, p, q);
    case TapeOp::abs:
      return loop<TapeOp::abs>(a, a, out, p, q);
    case TapeOp::clip:
      return loop<TapeOp::clip>(a, a, out, p, q);
    case TapeOp::log:
      return loop<TapeOp::log>(a, a, out, p, q);
    case TapeOp::softplus:
      return loop<TapeOp::softplus>(a, a, out, p, q);
    case TapeOp::mish:
      return loop<TapeOp::mish>(a, a, out, p, q);
    case TapeOp::elu:
      return loop<TapeOp::elu>(a, a, out, p, q);
    case TapeOp::selu:
      return loop<TapeOp::selu>(a, a, out, p, q);
    case TapeOp::celu:
      return loop<TapeOp::celu>(a, a, out, p, q);
    case TapeOp::sqrt:
      return loop<TapeOp::sqrt>(a, a, out, p, q);
    case TapeOp::floor:
      return loop<TapeOp::floor>(a, a, out, p, q);
    case TapeOp::ceil:
      return loop<TapeOp::ceil>(a, a, out, p, q);
    case TapeOp::round:
      return loop<TapeOp::round>(a, a, out, p, q);
    case TapeOp::sign:
      return loop<TapeOp::sign>(a, a, out, p, q);
    case TapeOp::thresholded_relu:
      return loop<TapeOp::thresholded_relu>(a, a, out, p, q);
    case TapeOp::logical_not:
      return loop<TapeOp::logical_not>(a, a, out, p, q);
    case TapeOp::is_true:
      return loop<TapeOp::is_true>(a, a, out, p, q);
    case TapeOp::is_nan:
      return loop<TapeOp::is_nan>(a, a, out, p, q);
    case TapeOp::is_infinite:
      return loop<TapeOp::is_infinite>(a, a, out, p, q);
    case TapeOp::sine:
      return waves(op, a, out, 0);
    default:
      return waves(op, a, out, 1);
  }
}
