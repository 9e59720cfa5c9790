#include "ops/kernels/product/integer_product.h"

#include <algorithm>

#include "base/parallel.h"

namespace assay::ops {

void integer_product(const ProductSize& size, const IntegerMatrix& a, const IntegerMatrix& b, uint64_t* out) {
  if (size.columns == 0) return;
  parallel_for(size.rows, 1, [&](uint64_t row, uint64_t) {
    uint64_t* sums = out + row * size.columns;
    std::fill_n(sums, size.columns, uint64_t{0});
    for (uint64_t k = 0; k < size.depth; ++k) {
      const uint64_t factor = a.data[row * a.row_stride + k * a.column_stride];
      const uint64_t* from = b.data + k * b.row_stride;
      for (uint64_t j = 0; j < size.columns; ++j) sums[j] += factor * from[j * b.column_stride];
    }
  });
}

}  // namespace assay::ops
