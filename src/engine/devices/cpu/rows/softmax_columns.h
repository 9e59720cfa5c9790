#pragma once

#include <cstddef>
#include <span>

namespace assay::engine::cpu {

// Softmax down the columns of a matrix of float32, for one instruction set.
struct SoftmaxColumns {
  const char* name;
  // Softmax of `count` columns that lie side by side, each of `length` numbers that are `row` apart, or its logarithm;
  // `out` lies alike.
  void (*run)(const float* x, size_t length, size_t row, size_t count, bool is_log, float* out);
};

// The best that this processor has.
const SoftmaxColumns& softmax_columns();
// All that this processor has, for tests.
std::span<const SoftmaxColumns* const> all_softmax_columns();

}  // namespace assay::engine::cpu
