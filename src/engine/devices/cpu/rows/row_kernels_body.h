// The loops of row_kernels.h for vectors of kBytes; included by row_kernels.cpp once for each instruction set, in a
// namespace of its own, with ASSAY_KERNEL saying which.
#include "engine/devices/cpu/vector_math_body.h"

ASSAY_KERNEL inline const Unaligned& at(const float* x) { return *reinterpret_cast<const Unaligned*>(x); }
ASSAY_KERNEL inline Unaligned& at(float* x) { return *reinterpret_cast<Unaligned*>(x); }

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

ASSAY_KERNEL void scale(float* x, float factor, size_t count) {
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) at(x + i) = at(x + i) * factor;
  for (; i < count; ++i) x[i] *= factor;
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
    for (size_t lane = 0; lane < kWidth; ++lane) {
      greatest = kept[lane] > greatest || kept[lane] != kept[lane] ? kept[lane] : greatest;
    }
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
  double sum = 0;
  for (size_t lane = 0; lane < kWidth; ++lane) sum += sums[lane];
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
  scale(out, static_cast<float>(1 / sum), count);
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
