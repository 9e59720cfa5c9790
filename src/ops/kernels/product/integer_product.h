#pragma once

#include <cstdint>
#include <vector>

#include "ops/kernels/product/matrix_product.h"

namespace assay::ops {

// A matrix of integers in memory: element (row, column) lies at row * row_stride + column * column_stride.
struct IntegerMatrix {
  const uint64_t* data = nullptr;
  uint64_t row_stride = 0;
  uint64_t column_stride = 1;
};

// C = A · B, row by row into `out`, wrapping modulo 2^64: exact for every integer type that wraps when it is stored.
void integer_product(const ProductSize& size, const IntegerMatrix& a, const IntegerMatrix& b, uint64_t* out);

// The product of dense matrices modulo 2^32: exact for integers of at most 32 bits.
void integer_product(const ProductSize& size, const uint32_t* a, const uint32_t* b, uint32_t* out);

}  // namespace assay::ops
