// The loops of finish_kernels.h for vectors of kBytes; included by finish_kernels.cpp once for each instruction set, in
// a namespace of its own, with ASSAY_KERNEL saying which, and of vectors: round_whole, and write_codes of one or two.
// Some vectors of channels are finished for all rows, so that their factors and biases stay in registers.

#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/vector_numbers_body.h"

ASSAY_KERNEL inline void read_added(const FinishStep& step, int64_t element, Vector& out) {
  if (step.type == NumberType::int8) return read_numbers(static_cast<const int8_t*>(step.added) + element, out);
  if (step.type == NumberType::uint8) return read_numbers(static_cast<const uint8_t*>(step.added) + element, out);
  read_numbers(static_cast<const float*>(step.added) + element, out);
}

// x times the share of normally distributed numbers below it: 1/2 and an odd polynomial, which is constant beyond kEnd.
ASSAY_KERNEL inline void gelu(const FinishStep& step, Vector& x) {
  constexpr float kEnd = 4.25F;
  Vector end, half, inner, share;
  set(end, kEnd);
  set(half, 0.5F);
  choose(x < -end, -end, x, x);
  choose(x > end, end, x, inner);
  polynomial(kGeluShare, inner * inner, share);
  fused(inner, share, half, share);
  x *= share * step.factor;
}

ASSAY_KERNEL inline void requantise(const FinishStep& step, Vector& x) {
  Vector factor, offset;
  set(factor, step.factor);
  set(offset, step.offset);
  round_whole(x);
  bound(x, step.least, step.greatest, x);
  fused(x, factor, offset, x);
}

template <size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void add(const FinishStep& step, int64_t element, Vector (&x)[kVectors]) {
  Vector factor, offset;
  set(factor, step.factor);
  set(offset, step.offset);
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    Vector added;
    read_added(step, element + static_cast<int64_t>(v * kWidth), added);
    fused(added, factor, x[v], x[v]);
    x[v] += offset;
  }
}

template <size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void apply(const FinishStep& step, int64_t element, Vector (&x)[kVectors]) {
  if (step.op == FinishOp::add) return add(step, element, x);
  if (step.op == FinishOp::bound) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) bound(x[v], step.least, step.greatest, x[v]);
  } else if (step.op == FinishOp::requantise) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) requantise(step, x[v]);
  } else {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) gelu(step, x[v]);
  }
}

template <size_t kVectors>
ASSAY_KERNEL [[gnu::always_inline]] inline void write(const FinishRows& rows, int64_t element,
                                                      const Vector (&x)[kVectors]) {
  if (rows.type == NumberType::float32) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) at(static_cast<float*>(rows.out) + element + v * kWidth).lanes = x[v];
    return;
  }
  std::byte* const out = static_cast<std::byte*>(rows.out) + element;
  if constexpr (kVectors == 1) {
    write_codes(rows, x[0], out);
  } else {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; v += 2) write_codes(rows, x[v], x[v + 1], out + v * kWidth);
  }
}

template <size_t kVectors>
ASSAY_KERNEL void finish_vectors(const FinishRows& rows, size_t first) {
  Vector factors[kVectors], bias[kVectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    factors[v] = at(rows.factors + first + v * kWidth).lanes;
    bias[v] = at(rows.bias + first + v * kWidth).lanes;
  }
  for (size_t r = 0; r < rows.rows; ++r) {
    const int32_t* const sums = rows.sums + static_cast<int64_t>(r) * rows.sums_row + first;
    const int64_t element = rows.first + static_cast<int64_t>(r) * rows.out_row + static_cast<int64_t>(first);
    Vector x[kVectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      const Vector lanes = at(reinterpret_cast<const float*>(sums) + v * kWidth).lanes;
      x[v] = __builtin_convertvector(reinterpret_cast<Bits>(lanes), Vector);
      fused(x[v], factors[v], bias[v], x[v]);
    }
    for (size_t i = 0; i < rows.step_count; ++i) apply(rows.steps[i], element, x);
    write(rows, element, x);
  }
}

// The channels that fill no vector are those of the base.
ASSAY_KERNEL void finish(const FinishRows& rows) {
  size_t first = 0;
  for (; first + 4 * kWidth <= rows.channels; first += 4 * kWidth) finish_vectors<4>(rows, first);
  for (; first + 2 * kWidth <= rows.channels; first += 2 * kWidth) finish_vectors<2>(rows, first);
  for (; first + kWidth <= rows.channels; first += kWidth) finish_vectors<1>(rows, first);
  if (first < rows.channels) base::finish_from(rows, first);
}
