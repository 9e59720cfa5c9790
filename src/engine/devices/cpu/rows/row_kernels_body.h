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

using Indices [[gnu::vector_size(kBytes)]] = int32_t;

// For the vector of the result at this place among three: where the elements of the first two rows come from, then
// those of the third.
struct Turns {
  Indices first_two;
  Indices third;
};

ASSAY_KERNEL inline void turns_of(size_t place, Turns& turns) {
  for (size_t i = 0; i < kWidth; ++i) {
    const size_t at = place * kWidth + i;
    const auto element = static_cast<int32_t>(at / 3);
    const bool is_third = at % 3 == 2;
    turns.first_two[i] = is_third ? 0 : element + static_cast<int32_t>(at % 3 * kWidth);
    turns.third[i] = static_cast<int32_t>(is_third ? static_cast<size_t>(element) + kWidth : i);
  }
}

ASSAY_KERNEL void interleave3(const float* const* rows, float* out, size_t count) {
  Turns turns[3];
  for (size_t place = 0; place < 3; ++place) turns_of(place, turns[place]);
  size_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    const Vector a = at(rows[0] + i);
    const Vector b = at(rows[1] + i);
    const Vector c = at(rows[2] + i);
    for (size_t place = 0; place < 3; ++place) {
      const Vector two = __builtin_shuffle(a, b, turns[place].first_two);
      at(out + 3 * i + place * kWidth) = __builtin_shuffle(two, c, turns[place].third);
    }
  }
  for (; i < count; ++i) {
    for (size_t row = 0; row < 3; ++row) out[3 * i + row] = rows[row][i];
  }
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
    const Vector rest = at(tail);
    Vector grown;
    exponential(rest, grown);
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
