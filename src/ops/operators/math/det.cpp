#include <cmath>

#include "base/parallel.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_det(Infer& node) {
  if (!node.is_ranked(0)) return;
  const Dims& dims = node.dims(0);
  if (dims.size() < 2) fail(ErrorCode::shape, "expected matrices, the shape is {}", text(dims));
  unify(dims[dims.size() - 2], dims.back(), "rows and columns of a matrix");
  node.set_dims(0, Dims(dims.begin(), dims.end() - 2));
}

// A third of the cube of the rows.
Dim macs_of_det(const Infer& node) {
  if (!node.is_ranked(0)) return {};
  const Dims& dims = node.dims(0);
  const Dim rows = dims.back();
  return product(std::span(dims).first(dims.size() - 2)) * floor_div(rows * rows * rows, 3);
}

// Gaussian elimination with the largest pivot of each column.
double determinant(std::span<double> matrix, size_t n) {
  double result = 1;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < n; ++row) {
      if (std::abs(matrix[row * n + column]) > std::abs(matrix[pivot * n + column])) pivot = row;
    }
    const double top = matrix[pivot * n + column];
    if (top == 0) return 0;
    if (pivot != column) {
      result = -result;
      for (size_t k = 0; k < n; ++k) std::swap(matrix[pivot * n + k], matrix[column * n + k]);
    }
    result *= top;
    for (size_t row = column + 1; row < n; ++row) {
      const double factor = matrix[row * n + column] / top;
      for (size_t k = column; k < n; ++k) matrix[row * n + k] -= factor * matrix[column * n + k];
    }
  }
  return result;
}

void eval_det(Eval& node) {
  std::vector<double> data = node.load<double>(0);
  const auto n = static_cast<size_t>(node.shape(0).back());
  std::vector<double> result(node.out_count(0));
  parallel_for(result.size(), 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) result[i] = determinant(std::span(data).subspan(i * n * n, n * n), n);
  });
  node.store(0, std::move(result));
}

}  // namespace

OperatorRows operator_math_det() {
  static constexpr Operator kRows[] = {
      {.name = "Det", .traits = {Nature::product}, .infer = infer_det, .eval = eval_det, .macs = macs_of_det},
  };
  return kRows;
}

}  // namespace assay::ops
