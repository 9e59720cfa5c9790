#pragma once

#include <cstdint>
#include <span>

#include "base/function_ref.h"

namespace assay::ops {

struct ProductSize {
  uint64_t rows = 0;     // of A and C
  uint64_t columns = 0;  // of B and C
  uint64_t depth = 0;    // columns of A, rows of B
};

// Fills `out` with consecutive elements of one row of a matrix, from column `begin` on. Called from several threads.
using ReadRow = FunctionRef<void(uint64_t row, uint64_t begin, std::span<double> out)>;
// Takes consecutive finished elements of one row of C, each element once. Called from several threads.
using WriteRow = FunctionRef<void(uint64_t row, uint64_t begin, std::span<const double> values)>;

// C = A · B in double. Each element of C is the sum of a[i][k]*b[k][j] for k ascending, product and sum each rounded
// once, starting from 0: the same bits on every instruction set and with any number of threads (a NaN is the positive
// quiet one). Uses the pool; a ReadRow is called for runs of up to some hundred elements, and should vectorize.
void matrix_product(const ProductSize& size, ReadRow a, ReadRow b, WriteRow c);

// While it lives, matrix_product() called from its thread multiplies and adds in float32, in the same order: for what
// only has to be about right.
class FloatProducts {
 public:
  FloatProducts();
  ~FloatProducts();
  FloatProducts(const FloatProducts&) = delete;
  FloatProducts& operator=(const FloatProducts&) = delete;

 private:
  bool outer_;
};

}  // namespace assay::ops
