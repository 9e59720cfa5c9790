// The loops of rotary_kernels.h; a body of instruction_sets_body.h.

#include "engine/devices/cpu/vector_math_body.h"

// a * b, rounded: it is no part of a fused addition.
template <typename V>
ASSAY_KERNEL inline void rounded_product(const V& a, const V& b, V& out) {
  out = a * b;
#if defined(__x86_64__)
  asm("" : "+v"(out));
#endif
}

template <bool kSubtracts, typename V>
ASSAY_KERNEL inline void combine(const V& a, const V& b, const V& c, const V& d, V& out) {
  V left, right;
  rounded_product(a, b, left);
  rounded_product(c, d, right);
  if constexpr (kSubtracts)
    out = left - right;
  else
    out = left + right;
}

struct TurnedRow {
  const float* a;
  const float* b;
  const float* c;
  const float* d;
  float* out;
  float scale;
};

template <bool kSubtracts>
ASSAY_KERNEL inline void turn_vector(const TurnedRow& row, size_t i) {
  const Vector a = at(row.a + i).lanes;
  const Vector b = at(row.b + i).lanes;
  const Vector c = at(row.c + i).lanes;
  const Vector d = at(row.d + i).lanes;
  Vector made;
  combine<kSubtracts>(a, b, c, d, made);
  at(row.out + i).lanes = made * row.scale;
}

template <bool kSubtracts>
ASSAY_KERNEL void turned(const std::array<TapeView, 4>& operands, float scale, const TapeTarget& out) {
  for (int64_t r = 0; r < static_cast<int64_t>(out.rows); ++r) {
    const TurnedRow row = {operands[0].first + r * operands[0].row,
                           operands[1].first + r * operands[1].row,
                           operands[2].first + r * operands[2].row,
                           operands[3].first + r * operands[3].row,
                           out.first + r * out.row,
                           scale};
    size_t i = 0;
    for (; i + kWidth <= out.columns; i += kWidth) turn_vector<kSubtracts>(row, i);
    if (i > 0 && i < out.columns) {  // the last vector computes some once more
      turn_vector<kSubtracts>(row, out.columns - kWidth);
      continue;
    }
    for (; i < out.columns; ++i) {
      float made;
      combine<kSubtracts>(row.a[i], row.b[i], row.c[i], row.d[i], made);
      row.out[i] = made * scale;
    }
  }
}

template <size_t... kLanes>
ASSAY_KERNEL inline void divide(const Vector& first, const Vector& second, std::index_sequence<kLanes...>, Vector& x,
                                Vector& y) {
  x = __builtin_shufflevector(first, second, (2 * kLanes)...);
  y = __builtin_shufflevector(first, second, (2 * kLanes + 1)...);
}
template <size_t... kLanes>
ASSAY_KERNEL inline void interleave(const Vector& x, const Vector& y, std::index_sequence<kLanes...>, Vector& first,
                                    Vector& second) {
  first = __builtin_shufflevector(x, y, (kLanes / 2 + kLanes % 2 * kWidth)...);
  second = __builtin_shufflevector(x, y, (kLanes / 2 + kLanes % 2 * kWidth + kWidth / 2)...);
}

ASSAY_KERNEL void pairs(const std::array<TapeView, 4>& operands, const TapeTarget& out) {
  constexpr std::make_index_sequence<kWidth> kLanes;
  const size_t half = out.columns / 2;
  for (int64_t r = 0; r < static_cast<int64_t>(out.rows); ++r) {
    const float* const from = operands[0].first + r * operands[0].row;
    const float* const c = operands[1].first + r * operands[1].row;
    const float* const s = operands[2].first + r * operands[2].row;
    float* const to = out.first + r * out.row;
    size_t i = 0;
    for (; i + kWidth <= half; i += kWidth) {
      Vector x, y, left, right, first, second;
      const Vector front = at(from + 2 * i).lanes;
      const Vector back = at(from + 2 * i + kWidth).lanes;
      divide(front, back, kLanes, x, y);
      const Vector cosine = at(c + i).lanes;
      const Vector sine = at(s + i).lanes;
      combine<true>(x, cosine, y, sine, left);
      combine<false>(y, cosine, x, sine, right);
      interleave(left, right, kLanes, first, second);
      at(to + 2 * i).lanes = first;
      at(to + 2 * i + kWidth).lanes = second;
    }
    for (; i < half; ++i) {
      const float x = from[2 * i], y = from[2 * i + 1];
      combine<true>(x, c[i], y, s[i], to[2 * i]);
      combine<false>(y, c[i], x, s[i], to[2 * i + 1]);
    }
  }
}

template <size_t... kLanes>
ASSAY_KERNEL inline void swap_neighbours(const Vector& x, std::index_sequence<kLanes...>, Vector& out) {
  out = __builtin_shufflevector(x, x, (kLanes ^ 1U)...);
}

ASSAY_KERNEL inline void turn_neighbours(const TurnedRow& row, size_t i) {
  constexpr std::make_index_sequence<kWidth> kLanes;
  Bits first;
  for (size_t lane = 0; lane < kWidth; ++lane) first[lane] = lane % 2 == 0 ? -1 : 0;
  const Vector x = at(row.a + i).lanes;
  const Vector cosine = at(row.b + i).lanes;
  const Vector sine = at(row.c + i).lanes;
  Vector other, left, right, made;
  swap_neighbours(x, kLanes, other);
  rounded_product(x, cosine, left);
  rounded_product(other, sine, right);
  choose(first, left - right, left + right, made);
  at(row.out + i).lanes = made * row.scale;
}

ASSAY_KERNEL void neighbours(const std::array<TapeView, 4>& operands, float scale, const TapeTarget& out) {
  for (int64_t r = 0; r < static_cast<int64_t>(out.rows); ++r) {
    const TurnedRow row = {operands[0].first + r * operands[0].row,
                           operands[1].first + r * operands[1].row,
                           operands[2].first + r * operands[2].row,
                           nullptr,
                           out.first + r * out.row,
                           scale};
    size_t i = 0;
    for (; i + kWidth <= out.columns; i += kWidth) turn_neighbours(row, i);
    if (i > 0 && i < out.columns) {  // the last vector computes some once more
      turn_neighbours(row, out.columns - kWidth);
      continue;
    }
    for (; i < out.columns; i += 2) {
      float x, y;
      combine<true>(row.a[i], row.b[i], row.a[i + 1], row.c[i], x);
      combine<false>(row.a[i + 1], row.b[i + 1], row.a[i], row.c[i + 1], y);
      row.out[i] = x * scale;
      row.out[i + 1] = y * scale;
    }
  }
}

constexpr RotaryKernels kKernels = {kName, kWidth, turned<false>, turned<true>, pairs, neighbours};
