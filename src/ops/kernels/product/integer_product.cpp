#include "ops/kernels/product/integer_product.h"

#include <algorithm>

#include "base/parallel.h"

namespace assay::ops {
namespace {

// to += factor * from. A macro, because neither a template argument nor inlining can bring the instruction set to
// vectors of its width.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define ASSAY_ADD_ROW(name, vector_bytes, attributes)                                            \
  attributes void name(uint32_t factor, const uint32_t* from, uint32_t* to, uint64_t count) {    \
    using Vector [[gnu::vector_size(vector_bytes), gnu::may_alias, gnu::aligned(4)]] = uint32_t; \
    constexpr uint64_t kWidth = (vector_bytes) / sizeof(uint32_t);                               \
    uint64_t i = 0;                                                                              \
    for (; i + kWidth <= count; i += kWidth) {                                                   \
      *reinterpret_cast<Vector*>(to + i) += factor * *reinterpret_cast<const Vector*>(from + i); \
    }                                                                                            \
    for (; i < count; ++i) to[i] += factor * from[i];                                            \
  }
// NOLINTEND(bugprone-macro-parentheses)

ASSAY_ADD_ROW(add_row_base, 16, )
using AddRow = void (*)(uint32_t factor, const uint32_t* from, uint32_t* to, uint64_t count);

#if defined(__x86_64__)
ASSAY_ADD_ROW(add_row_avx2, 32, [[gnu::target("avx2")]])
AddRow find_add_row() { return __builtin_cpu_supports("avx2") ? add_row_avx2 : add_row_base; }
#else
AddRow find_add_row() { return add_row_base; }
#endif
#undef ASSAY_ADD_ROW

}  // namespace

void integer_product(const ProductSize& size, const uint32_t* a, const uint32_t* b, uint32_t* out) {
  static const AddRow add_row = find_add_row();
  parallel_for(size.rows, 1, [&](uint64_t row, uint64_t) {
    uint32_t* const sums = out + row * size.columns;
    std::fill_n(sums, size.columns, 0U);
    for (uint64_t k = 0; k < size.depth; ++k) {
      add_row(a[row * size.depth + k], b + k * size.columns, sums, size.columns);
    }
  });
}

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
