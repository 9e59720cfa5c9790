// The loops of weighted_rows.h; a body of instruction_sets_body.h.

#include "engine/devices/cpu/vector_math_body.h"

// Sums so many vectors of each row.
template <size_t kVectors>
ASSAY_KERNEL inline void sum_block(const float* const* rows, const float* weights, size_t count, bool adds, float* out,
                                   size_t first) {
  Vector sums[kVectors] = {};
  for (size_t v = 0; v < kVectors && adds; ++v) sums[v] = at(out + first + v * kWidth).lanes;
  for (size_t r = 0; r < count; ++r) {
    const float* const row = rows[r] + first;
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      const Vector number = at(row + v * kWidth).lanes;
      fused(number, weights[r], sums[v], sums[v]);
    }
  }
  for (size_t v = 0; v < kVectors; ++v) at(out + first + v * kWidth).lanes = sums[v];
}

ASSAY_KERNEL void sum(const float* const* rows, const float* weights, size_t count, bool adds, float* out,
                      size_t length) {
  constexpr size_t kTogether = 4;
  size_t i = 0;
  for (; i + kTogether * kWidth <= length; i += kTogether * kWidth)
    sum_block<kTogether>(rows, weights, count, adds, out, i);
  for (; i + kWidth <= length; i += kWidth) sum_block<1>(rows, weights, count, adds, out, i);
  for (; i < length; ++i) {
    float sum = adds ? out[i] : 0;
    for (size_t r = 0; r < count; ++r) sum += weights[r] * rows[r][i];
    out[i] = sum;
  }
}

ASSAY_KERNEL void greatest(const float* const* rows, const float* weights, bool keeps, float* out, size_t length) {
  size_t i = 0;
  for (; i + kWidth <= length; i += kWidth) {
    Vector kept = at(rows[0] + i).lanes * weights[0];
    for (size_t r = 1; r < 4; ++r) {
      const Vector product = at(rows[r] + i).lanes * weights[r];
      choose(kept < product, product, kept, kept);
    }
    if (keeps) {
      const Vector before = at(out + i).lanes;
      choose(before < kept, kept, before, kept);
    }
    at(out + i).lanes = kept;
  }
  for (; i < length; ++i) {
    float kept = rows[0][i] * weights[0];
    for (size_t r = 1; r < 4; ++r) kept = std::max(kept, rows[r][i] * weights[r]);
    out[i] = keeps ? std::max(out[i], kept) : kept;
  }
}

constexpr WeightedRows kRows = {kName, sum, greatest};
