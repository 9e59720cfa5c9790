// The loops of coarse_kernels.h; included by coarse_kernels.cpp once for each instruction set, in a namespace of its
// own, with ASSAY_KERNEL saying which, after vector_math_body.h and write_numbers.

// 1 / (1 + 2^x).
template <typename V>
ASSAY_KERNEL inline void coarse_share(const V& x, V& out) {
  constexpr float kPowers[] = {9.999280730e-01F, 6.932609862e-01F, 2.426111315e-01F, 5.517166934e-02F};
  V whole, rest, power;
  divide_up(x, whole, rest);
  polynomial(kPowers, rest, power);
  scale(power, whole, power);
  if constexpr (sizeof(V) == 64) {
    out = _mm512_maskz_rcp14_ps(kAllLanes, power + 1.0F);
  } else {
    choose(x != x, x, power, power);  // the whole number of NaN is none
    out = 1.0F / (power + 1.0F);
  }
}

ASSAY_KERNEL inline void coarse_logistic(const Vector& x, Vector& out) { coarse_share(x * -kLog2e, out); }

// Near zero, x times a polynomial in its square.
ASSAY_KERNEL inline void coarse_tangent(const Vector& x, Vector& out) {
  constexpr float kSmall[] = {9.999999956e-01F, -3.333325347e-01F, 1.333095729e-01F, -5.370706758e-02F,
                              2.054490535e-02F};
  Vector share, small, size;
  coarse_share(x * (2 * kLog2e), share);
  polynomial(kSmall, x * x, small);
  magnitude(x, size);
  choose(size < 0.6F, small * x, 1.0F - share * 2.0F, out);
}

// The share of a normal distribution below x is 1 / (1 + 2^(-x p(x^2))); from -5 on it is too small to matter.
ASSAY_KERNEL inline void coarse_gelu(const Vector& x, Vector& out) {
  constexpr float kOdds[] = {2.301758261e+00F, 1.055243653e-01F,  -3.938123363e-04F, -1.041294606e-04F,
                             6.513858291e-06F, -1.755246869e-07F, 1.842339149e-09F};
  Vector square, odds;
  bound(x * x, 0.0F, 25.0F, square);
  polynomial(kOdds, square, odds);
  coarse_share(-x * odds, out);
  out *= x;
}

ASSAY_KERNEL inline void coarse_gelu_by_tangent(const Vector& x, Vector& out) {
  coarse_share((x * x * x * 0.044715F + x) * (-1.59576912160573071F * kLog2e), out);
  out *= x;
}

ASSAY_KERNEL inline void coarse_silu(const Vector& x, Vector& out) {
  coarse_logistic(x, out);
  out *= x;
}

template <ElementOp kOp>
ASSAY_KERNEL inline void apply_coarse(const Vector& a, Vector& out) {
  if constexpr (kOp == ElementOp::sigmoid) coarse_logistic(a, out);
  if constexpr (kOp == ElementOp::silu) coarse_silu(a, out);
  if constexpr (kOp == ElementOp::tanh) coarse_tangent(a, out);
  if constexpr (kOp == ElementOp::gelu) coarse_gelu(a, out);
  if constexpr (kOp == ElementOp::gelu_tanh) coarse_gelu_by_tangent(a, out);
}

template <ElementOp kOp, typename Number>
ASSAY_KERNEL void coarse_loop(TapeView a, TapeRowsOf<Number> out) {
  for (size_t r = 0; r < out.rows; ++r, a.first += a.row, out.first += out.row) {
    for (size_t i = 0; i < out.columns; i += kWidth) {
      const Vector x = at(a.first + i).lanes;
      Vector result;
      apply_coarse<kOp>(x, result);
      write_numbers(result, out.first + i);
    }
  }
}

template <typename Number>
ASSAY_KERNEL void coarse(ElementOp op, TapeView a, TapeRowsOf<Number> out) {
  switch (op) {
    case ElementOp::sigmoid:
      return coarse_loop<ElementOp::sigmoid>(a, out);
    case ElementOp::silu:
      return coarse_loop<ElementOp::silu>(a, out);
    case ElementOp::tanh:
      return coarse_loop<ElementOp::tanh>(a, out);
    case ElementOp::gelu:
      return coarse_loop<ElementOp::gelu>(a, out);
    default:
      return coarse_loop<ElementOp::gelu_tanh>(a, out);
  }
}
