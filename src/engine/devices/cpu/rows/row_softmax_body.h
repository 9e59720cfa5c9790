// Softmax of rows, and what reads and writes rows of any length; a part of row_kernels_body.h.

// A vector, or, of fewer numbers, some of its lanes; the others become `rest`.
template <typename V>
ASSAY_KERNEL inline void read_part(const float* from, size_t count, float rest, V& out) {
  if (count >= kWidth) {
    out = at(from).lanes;
    return;
  }
  set(out, rest);
  if constexpr (sizeof(V) == 64) {
    out = _mm512_mask_loadu_ps(out, static_cast<__mmask16>((1U << count) - 1), from);
  } else {
    for (size_t i = 0; i < count; ++i) out[i] = from[i];
  }
}
template <typename V>
ASSAY_KERNEL inline void write_part(const V& x, size_t count, float* to) {
  if (count >= kWidth)
    at(to).lanes = x;
  else if constexpr (sizeof(V) == 64) {
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << count) - 1), x);
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = x[i];
  }
}

constexpr float kNothing = -std::numeric_limits<float>::infinity();

ASSAY_KERNEL float greatest_of(const float* x, size_t count) {
  Vector kept;
  set(kept, x[0]);
  for (size_t i = 0; i < count; i += kWidth) {
    Vector b;
    read_part(x + i, count - i, x[0], b);
    choose((b > kept) | (b != b), b, kept, kept);
  }
  return greatest_lane(kept);
}

ASSAY_KERNEL void softmax(const float* x, float* out, size_t count) {
  const float greatest = greatest_of(x, count);
  Vector sums = {};
  Vector grown;
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector below = at(x + i).lanes - greatest;
    falling_exponential(below, grown);
    at(out + i).lanes = grown;
    sums += grown;
  }
  if (i < count) {
    Vector rest;
    read_part(x + i, count - i, kNothing, rest);
    const Vector below = rest - greatest;
    falling_exponential(below, grown);
    write_part(grown, count - i, out + i);
    sums += grown;
  }
  scale(out, 1 / sum_of_lanes(sums), out, count);
}

ASSAY_KERNEL void log_softmax(const float* x, float* out, size_t count) {
  const float greatest = greatest_of(x, count);
  Vector sums = {};
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector below = at(x + i).lanes - greatest;
    Vector grown;
    falling_exponential(below, grown);
    sums += grown;
  }
  double sum = sum_of_lanes(sums);
  for (; i < count; ++i) sum += std::exp(x[i] - greatest);
  const auto logarithm_of_sum = static_cast<float>(std::log(sum));
  for (i = 0; i + kWidth <= count; i += kWidth) at(out + i).lanes = at(x + i).lanes - greatest - logarithm_of_sum;
  for (; i < count; ++i) out[i] = x[i] - greatest - logarithm_of_sum;
}

// Keeps the greater one of two numbers; the kept one if the other is NaN.
template <typename V>
ASSAY_KERNEL inline void keep_greater(const V& x, V& kept) {
  if constexpr (sizeof(V) == 64)
    kept = _mm512_maskz_max_ps(kAllLanes, x, kept);
  else
    choose(x > kept, x, kept, kept);
}

// The greatest of the scores that it makes; NaN is none.
ASSAY_KERNEL inline float scale_and_mask(float* x, const float* mask, size_t count, float by, bool divides) {
  constexpr float kZeros[kWidth] = {};
  Vector kept = Vector{} + kNothing;
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    Vector y = at(x + i).lanes;
    y = divides ? y / by : y * by;
    if (mask != nullptr) y += at(mask + i).lanes;
    at(x + i).lanes = y;
    keep_greater(y, kept);
  }
  if (i == count) return greatest_lane(kept);
  Vector y, added;
  read_part(x + i, count - i, 0, y);
  read_part(mask != nullptr ? mask + i : kZeros, count - i, kNothing, added);
  y = (divides ? y / by : y * by) + added;
  write_part(y, count - i, x + i);
  keep_greater(y, kept);
  return greatest_lane(kept);
}

// The greatest of numbers times a positive one; NaN is none.
ASSAY_KERNEL inline float greatest_scaled(const float* x, size_t count, float by) {
  Vector kept = Vector{} + kNothing;
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) keep_greater(Vector(at(x + i).lanes), kept);
  if (i < count) {
    Vector rest;
    read_part(x + i, count - i, kNothing, rest);
    keep_greater(rest, kept);
  }
  return greatest_lane(kept) * by;
}

// Replaces x by the exponentials of x times `by`, less a number; returns their sum.
ASSAY_KERNEL inline float exponentials(float* x, size_t count, float by, float less) {
  Vector sums = {};
  Vector grown, below, taken;
  set(taken, -less);
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    fused(at(x + i).lanes, by, taken, below);
    falling_exponential(below, grown);
    at(x + i).lanes = grown;
    sums += grown;
  }
  if (i == count) return sum_of_lanes(sums);
  Vector rest;
  read_part(x + i, count - i, kNothing, rest);
  fused(rest, by, taken, below);
  falling_exponential(below, grown);
  write_part(grown, count - i, x + i);
  sums += grown;
  return sum_of_lanes(sums);
}

// Softmax of a block. If everything is minus infinity so far, exponentials are those of the scores themselves: 0, or
// NaN.
ASSAY_KERNEL void softmax_block(float* x, const float* mask, size_t count, float by, bool divides,
                                SoftmaxSoFar& state) {
  const float before = state.greatest;
  const bool is_plain = mask == nullptr && !divides && by > 0;  // scores are scaled on their way to exponentials
  const float greatest = is_plain ? greatest_scaled(x, count, by) : scale_and_mask(x, mask, count, by, divides);
  state.greatest = std::max(before, greatest);
  state.factor = before == state.greatest ? 1 : 0;
  if (before != state.greatest && before != kNothing) state.factor = std::exp(before - state.greatest);
  const float sum = exponentials(x, count, is_plain ? by : 1, state.greatest == kNothing ? 0 : state.greatest);
  state.sum = state.sum * state.factor + sum;
  if (state.sum != state.sum) state.greatest = state.sum;
}
