#include "ops/kernels/product/batched_product.h"

#include <algorithm>

#include "ops/kernels/movement/places.h"
#include "ops/kernels/product/matrix_product.h"

namespace assay::ops {
namespace {

// A vector counts as a matrix with one row (on the left) or one column (on the right).
template <typename List, typename T>
List as_matrix(const List& dims, bool is_left, T one) {
  List result = dims;
  if (dims.size() == 1) result.insert(is_left ? result.begin() : result.end(), one);
  return result;
}

Shape lead_of(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

}  // namespace

Dims matmul_dims(std::span<const Dim> a, std::span<const Dim> b) {
  if (a.empty() || b.empty())
    fail(ErrorCode::shape, "scalars cannot be multiplied as matrices: {} and {}", text(a), text(b));
  const Dims left = as_matrix(Dims(a.begin(), a.end()), true, Dim(1));
  const Dims right = as_matrix(Dims(b.begin(), b.end()), false, Dim(1));
  const Dim& inner_left = left.back();
  const Dim& inner_right = right[right.size() - 2];
  if (inner_left.is_number() && inner_right.is_number() && !inner_left.equals(inner_right)) {
    fail(ErrorCode::shape, "the inner dims of {} and {} differ: {} and {}", text(a), text(b), inner_left.text(),
         inner_right.text());
  }
  Dims result = broadcast(std::span(left).first(left.size() - 2), std::span(right).first(right.size() - 2));
  if (a.size() > 1) result.push_back(left[left.size() - 2]);
  if (b.size() > 1) result.push_back(right.back());
  return result;
}

Dim matmul_macs(std::span<const Dim> a, std::span<const Dim> result) { return product(result) * a.back(); }

std::vector<double> matmul(const Tensor& a, const Tensor& b, const Shape& result) {
  const Shape left = as_matrix(a.shape(), true, int64_t{1});
  const Shape right = as_matrix(b.shape(), false, int64_t{1});
  ProductSize size{static_cast<uint64_t>(left[left.size() - 2]), static_cast<uint64_t>(right.back()),
                   static_cast<uint64_t>(left.back())};
  std::vector<double> out(tensor::element_count(result).value());
  if (out.empty()) return out;
  // With one matrix on the right, those on the left stand below each other as one.
  if (right.size() == 2) size.rows = out.size() / size.columns;
  const uint64_t matrix = size.rows * size.columns;
  Shape lead = result;
  lead.resize(std::max(left.size(), right.size()) - 2);
  const std::vector<int64_t> strides_a = broadcast_strides(lead_of(left), lead);
  const std::vector<int64_t> strides_b = broadcast_strides(lead_of(right), lead);
  for (uint64_t batch = 0; batch < out.size() / matrix; ++batch) {
    const uint64_t first_a = static_cast<uint64_t>(strided_place(batch, lead, strides_a)) * size.rows * size.depth;
    const uint64_t first_b = static_cast<uint64_t>(strided_place(batch, lead, strides_b)) * size.depth * size.columns;
    matrix_product(
        size,
        [&](uint64_t row, uint64_t begin, std::span<double> to) {
          tensor::load(a.dtype(), a.bytes(), first_a + row * size.depth + begin, to);
        },
        [&](uint64_t row, uint64_t begin, std::span<double> to) {
          tensor::load(b.dtype(), b.bytes(), first_b + row * size.columns + begin, to);
        },
        [&](uint64_t row, uint64_t begin, std::span<const double> values) {
          std::ranges::copy(values, out.begin() + static_cast<ptrdiff_t>(batch * matrix + row * size.columns + begin));
        });
  }
  return out;
}

}  // namespace assay::ops
