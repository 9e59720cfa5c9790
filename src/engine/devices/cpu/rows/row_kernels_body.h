// The loops of row_kernels.h for vectors of kBytes; included by row_kernels.cpp once for each instruction set, in a
// namespace of its own, with ASSAY_KERNEL saying which.
#include "engine/devices/cpu/vector_math_body.h"

ASSAY_KERNEL inline const Unaligned& at(const float* x) { return *reinterpret_cast<const Unaligned*>(x); }
ASSAY_KERNEL inline Unaligned& at(float* x) { return *reinterpret_cast<Unaligned*>(x); }

using Four [[gnu::vector_size(16), gnu::may_alias]] = float;

ASSAY_KERNEL inline float sum_of_lanes(const Vector& given) {
  const auto* const parts = reinterpret_cast<const Four*>(&given);
  Four sum = parts[0];
  for (size_t i = 1; i < kBytes / sizeof(Four); ++i) sum += parts[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

ASSAY_KERNEL void maximum(float* kept, const float* x, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector a = at(kept + i);
    const Vector b = at(x + i);
    Vector out;
    choose((b > a) | (b != b), b, a, out);
    at(kept + i) = out;
  }
  for (; i < count; ++i) kept[i] = x[i] > kept[i] || x[i] != x[i] ? x[i] : kept[i];
}

ASSAY_KERNEL void add(float* sum, const float* x, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) at(sum + i) = at(sum + i) + at(x + i);
  for (; i < count; ++i) sum[i] += x[i];
}

ASSAY_KERNEL void scale(const float* x, float factor, float* out, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) at(out + i) = at(x + i) * factor;
  for (; i < count; ++i) out[i] = x[i] * factor;
}

ASSAY_KERNEL inline float greatest_lane(const Vector& given) {
  const auto* const parts = reinterpret_cast<const Four*>(&given);
  Four kept = parts[0];
  for (size_t i = 1; i < kBytes / sizeof(Four); ++i) {
    kept = (parts[i] > kept) | (parts[i] != parts[i]) ? parts[i] : kept;
  }
  float greatest = kept[0];
  for (size_t lane = 1; lane < 4; ++lane) {
    greatest = kept[lane] > greatest || kept[lane] != kept[lane] ? kept[lane] : greatest;
  }
  return greatest;
}

ASSAY_KERNEL inline float greatest_of(const float* x, size_t count) {
  float greatest = x[0];
  size_t i = 0;
  if (count >= kWidth) {
    Vector kept = at(x);
    for (i = kWidth; i + kWidth <= count; i += kWidth) {
      const Vector b = at(x + i);
      choose((b > kept) | (b != b), b, kept, kept);
    }
    greatest = greatest_lane(kept);
  }
  for (; i < count; ++i) greatest = x[i] > greatest || x[i] != x[i] ? x[i] : greatest;
  return greatest;
}

ASSAY_KERNEL void softmax(const float* x, float* out, size_t count) {
  const float greatest = greatest_of(x, count);
  Vector sums = {};
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    Vector grown;
    exponential(at(x + i) - greatest, grown);
    at(out + i) = grown;
    sums += grown;
  }
  double sum = sum_of_lanes(sums);
  if (i < count) {
    float tail[kWidth] = {};
    for (size_t k = 0; i + k < count; ++k) tail[k] = x[i + k] - greatest;
    Vector grown;
    exponential(at(tail), grown);
    for (size_t k = 0; i + k < count; ++k) {
      out[i + k] = grown[k];
      sum += grown[k];
    }
  }
  scale(out, static_cast<float>(1 / sum), out, count);
}

// The greatest of the scores that it makes.
ASSAY_KERNEL inline float scale_and_mask(float* x, const float* mask, size_t count, float by, bool divides) {
  float greatest = -std::numeric_limits<float>::infinity();
  Vector kept = Vector{} + greatest;
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    Vector y = at(x + i);
    y = divides ? y / by : y * by;
    if (mask != nullptr) y += at(mask + i);
    at(x + i) = y;
    choose((y > kept) | (y != y), y, kept, kept);
  }
  greatest = greatest_lane(kept);
  for (; i < count; ++i) {
    x[i] = divides ? x[i] / by : x[i] * by;
    if (mask != nullptr) x[i] += mask[i];
    greatest = x[i] > greatest || x[i] != x[i] ? x[i] : greatest;
  }
  return greatest;
}

// Whole vectors, then the rest in one.
ASSAY_KERNEL inline double exponentials(float* x, size_t count, float less) {
  Vector sums = {};
  Vector grown;
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    exponential(at(x + i) - less, grown);
    at(x + i) = grown;
    sums += grown;
  }
  double sum = sum_of_lanes(sums);
  if (i == count) return sum;
  float tail[kWidth] = {};
  for (size_t k = 0; i + k < count; ++k) tail[k] = x[i + k] - less;
  exponential(at(tail), grown);
  for (size_t k = 0; i + k < count; ++k) {
    x[i + k] = grown[k];
    sum += grown[k];
  }
  return sum;
}

ASSAY_KERNEL void softmax_block(float* x, const float* mask, size_t count, float by, bool divides,
                                SoftmaxSoFar& state) {
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  const float greatest = scale_and_mask(x, mask, count, by, divides);
  const float before = state.greatest;
  if (greatest > before || greatest != greatest) state.greatest = greatest;
  state.factor = before == state.greatest ? 1 : 0;
  if (state.greatest == kLeast) {
    std::fill_n(x, count, 0.0F);
    return;
  }
  if (before != state.greatest && before != kLeast) state.factor = std::exp(before - state.greatest);
  const auto sum = static_cast<float>(exponentials(x, count, state.greatest));
  state.sum = state.sum * state.factor + sum;
}

ASSAY_KERNEL void dot(const float* q, const float* rows, int64_t row, size_t depth, size_t count, float* out) {
  for (size_t r = 0; r < count; ++r, rows += row) {
    Vector sums = {};
    size_t k = 0;
    for (; k + kWidth <= depth; k += kWidth) sums += at(q + k) * at(rows + k);
    float sum = sum_of_lanes(sums);
    for (; k < depth; ++k) sum += q[k] * rows[k];
    out[r] = sum;
  }
}

ASSAY_KERNEL void normalize(const float* x, const float* factors, const float* shift, float* out, size_t count,
                            float epsilon, bool is_rms) {
  const auto sum_of = [](const Vector& lanes) {
    double sum = 0;
    for (size_t lane = 0; lane < kWidth; ++lane) sum += lanes[lane];
    return sum;
  };
  size_t i = 0;
  double sum = 0;
  if (!is_rms) {
    Vector sums = {};
    for (; i + kWidth <= count; i += kWidth) sums += at(x + i);
    sum = sum_of(sums);
    for (; i < count; ++i) sum += x[i];
  }
  const auto mean = static_cast<float>(sum / static_cast<double>(count));
  Vector squares = {};
  for (i = 0; i + kWidth <= count; i += kWidth) {
    const Vector centered = at(x + i) - mean;
    squares += centered * centered;
  }
  double square = sum_of(squares);
  for (; i < count; ++i) square += double{x[i] - mean} * double{x[i] - mean};
  const auto factor = static_cast<float>(1 / std::sqrt(square / static_cast<double>(count) + epsilon));
  for (i = 0; i + kWidth <= count; i += kWidth) {
    Vector result = (at(x + i) - mean) * factor;
    if (factors != nullptr) result *= at(factors + i);
    if (shift != nullptr) result += at(shift + i);
    at(out + i) = result;
  }
  for (; i < count; ++i) {
    const float scaled = (x[i] - mean) * factor * (factors != nullptr ? factors[i] : 1);
    out[i] = shift != nullptr ? scaled + shift[i] : scaled;
  }
}
