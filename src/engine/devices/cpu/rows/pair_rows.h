#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/devices/cpu/rows/row_kernels.h"

namespace assay::engine::cpu {

// Loops over rows of bfloat16 on the way into products of pairs, and out of them.
struct PairRows {
  // The numbers of two rows in turn; no second row: zeros.
  void (*interleave)(const uint16_t* first, const uint16_t* second, uint16_t* out, size_t count);
  // RowKernels::softmax_block with weights of bfloat16, which take the place of the scores, and zeros up to a multiple
  // of 16. What is summed up are the weights before they are rounded.
  void (*softmax_block)(float* scores, const float* mask, size_t count, float scale, SoftmaxSoFar& state);
  void (*scale)(const float* x, float factor, uint16_t* out, size_t count);
  // Keeps the greatest of the magnitudes; NaN is greatest.
  void (*greatest_size)(const uint16_t* x, int64_t row, size_t rows, size_t count, float& kept);
};

// Null: this processor has no instructions for pairs.
const PairRows* pair_rows();

}  // namespace assay::engine::cpu
