#include <algorithm>
#include <array>
#include <cmath>

#include "base/parallel.h"
#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/product/integer_product.h"
#include "ops/kernels/product/matrix_product.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

struct Sides {
  Dim rows, left_depth, right_depth, columns;
};

Sides sides_of(const Infer& node) {
  const bool turns_a = node.flag("transA");
  const bool turns_b = node.flag("transB");
  Sides sides;
  if (node.is_ranked(0)) {
    sides.rows = node.dims(0)[turns_a ? 1 : 0];
    sides.left_depth = node.dims(0)[turns_a ? 0 : 1];
  }
  if (node.is_ranked(1)) {
    sides.right_depth = node.dims(1)[turns_b ? 1 : 0];
    sides.columns = node.dims(1)[turns_b ? 0 : 1];
  }
  return sides;
}

// C broadcasts to the result, never the other way round. Before version 7 it does so only if `broadcast` is set.
void check_addend(const Infer& node, const Dims& result) {
  if (!node.has(2) || !node.is_ranked(2)) return;
  const Dims& dims = node.dims(2);
  const bool may_broadcast = node.version() >= 7 || node.flag("broadcast");
  bool fits = may_broadcast ? dims.size() <= 2 : dims.size() == 2;
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    const Dim& own = dims[dims.size() - 1 - i];
    const Dim& other = result[1 - i];
    const bool is_known = own.is_number() && other.is_number();
    fits = !is_known || own.equals(other) || (may_broadcast && own.is(1));
  }
  if (!fits) fail(ErrorCode::shape, "C of shape {} does not broadcast to {}", text(dims), text(result));
}

void infer_gemm(Infer& node) {
  node.require_rank(0, 2);
  node.require_rank(1, 2);
  const Sides sides = sides_of(node);
  if (sides.left_depth.is_number() && sides.right_depth.is_number() && !sides.left_depth.equals(sides.right_depth)) {
    fail(ErrorCode::shape, "the inner dims of {}{} and {}{} differ: {} and {}", text(node.dims(0)),
         node.flag("transA") ? " transposed" : "", text(node.dims(1)), node.flag("transB") ? " transposed" : "",
         sides.left_depth.text(), sides.right_depth.text());
  }
  const Dims result = {sides.rows, sides.columns};
  check_addend(node, result);
  node.set_dims(0, result);
}

Dim macs_of_gemm(const Infer& node) {
  const Sides sides = sides_of(node);
  return sides.rows * (sides.left_depth.is_number() ? sides.left_depth : sides.right_depth) * sides.columns;
}

ProductSize size_of(const Eval& node) {
  const Shape& a = node.shape(0);
  const Shape& b = node.shape(1);
  const bool turns_a = node.flag("transA");
  return {static_cast<uint64_t>(a[turns_a ? 1 : 0]), static_cast<uint64_t>(b[node.flag("transB") ? 0 : 1]),
          static_cast<uint64_t>(a[turns_a ? 0 : 1])};
}

// The matrix as the product reads it: as it lies in memory, or turned once into memory of its own.
class Operand {
 public:
  Operand(const Tensor& tensor, bool turned) : tensor_(tensor), columns_(static_cast<uint64_t>(tensor.shape()[1])) {
    if (!turned) return;
    const auto rows = static_cast<uint64_t>(tensor.shape()[0]);
    turned_.resize(rows * columns_);
    for (uint64_t row = 0; row < rows; row += kTileRows) {
      for (uint64_t column = 0; column < columns_; column += kTileColumns) turn_tile(rows, row, column);
    }
    columns_ = rows;
  }
  void read(uint64_t row, uint64_t begin, std::span<double> out) const {
    const uint64_t first = row * columns_ + begin;
    if (turned_.empty()) {
      tensor::load(tensor_.dtype(), tensor_.bytes(), first, out);
    } else {
      std::copy_n(turned_.begin() + static_cast<ptrdiff_t>(first), out.size(), out.begin());
    }
  }

 private:
  // A tile stays in the first cache while its columns are written as rows.
  static constexpr uint64_t kTileRows = 32;
  static constexpr uint64_t kTileColumns = 64;

  void turn_tile(uint64_t rows, uint64_t row, uint64_t column) {
    std::array<double, kTileRows * kTileColumns> tile;
    const uint64_t height = std::min(kTileRows, rows - row);
    const uint64_t width = std::min(kTileColumns, columns_ - column);
    for (uint64_t r = 0; r < height; ++r) {
      const std::span<double> line = std::span(tile).subspan(r * kTileColumns, width);
      tensor::load(tensor_.dtype(), tensor_.bytes(), (row + r) * columns_ + column, line);
    }
    for (uint64_t c = 0; c < width; ++c) {
      double* out = turned_.data() + (column + c) * rows + row;
      for (uint64_t r = 0; r < height; ++r) out[r] = tile[r * kTileColumns + c];
    }
  }

  const Tensor& tensor_;
  uint64_t columns_;
  std::vector<double> turned_;
};

void eval_floats(Eval& node) {
  const ProductSize size = size_of(node);
  const Shape shape = node.out_shape(0);
  const double alpha = node.floating("alpha");
  const double beta = node.floating("beta");
  std::optional<BroadcastReader> addend;
  if (node.has(2)) addend.emplace(node.tensor_in(2), shape);
  std::vector<double> out(node.out_count(0));
  if (!out.empty()) {
    const Operand a(node.tensor_in(0), node.flag("transA"));
    const Operand b(node.tensor_in(1), node.flag("transB"));
    matrix_product(
        size, [&](uint64_t row, uint64_t begin, std::span<double> to) { a.read(row, begin, to); },
        [&](uint64_t row, uint64_t begin, std::span<double> to) { b.read(row, begin, to); },
        [&](uint64_t row, uint64_t begin, std::span<const double> values) {
          const uint64_t first = row * size.columns + begin;
          const std::span<double> to = std::span(out).subspan(first, values.size());
          if (addend) addend->read(first, to);
          for (size_t i = 0; i < to.size(); ++i) to[i] = alpha * values[i] + (addend ? beta * to[i] : 0);
        });
  }
  node.store(0, std::move(out));
}

bool is_whole(double factor) { return std::trunc(factor) == factor && std::abs(factor) < 0x1p62; }

// With whole factors everything wraps; with others each term is rounded to double and the sum truncated.
int64_t scaled_sum(double alpha, int64_t product, double beta, int64_t addend) {
  if (is_whole(alpha) && is_whole(beta)) {
    return static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(alpha)) * static_cast<uint64_t>(product) +
                                static_cast<uint64_t>(static_cast<int64_t>(beta)) * static_cast<uint64_t>(addend));
  }
  const double sum = alpha * static_cast<double>(product) + beta * static_cast<double>(addend);
  return std::abs(sum) < 0x1p63 ? static_cast<int64_t>(sum) : std::numeric_limits<int64_t>::min();
}

void eval_integers(Eval& node) {
  const ProductSize size = size_of(node);
  const std::vector<int64_t> a = node.load<int64_t>(0);
  const std::vector<int64_t> b = node.load<int64_t>(1);
  const auto matrix = [&](uint32_t input, const std::vector<int64_t>& values, bool turned) {
    const auto columns = static_cast<uint64_t>(node.shape(input)[1]);
    const auto* data = reinterpret_cast<const uint64_t*>(values.data());
    return turned ? IntegerMatrix{data, 1, columns} : IntegerMatrix{data, columns, 1};
  };
  std::vector<uint64_t> sums(node.out_count(0));
  integer_product(size, matrix(0, a, node.flag("transA")), matrix(1, b, node.flag("transB")), sums.data());
  std::vector<int64_t> out(sums.begin(), sums.end());
  std::vector<int64_t> addend(out.size());
  if (node.has(2)) BroadcastReader(node.tensor_in(2), node.out_shape(0)).read(0, std::span(addend));
  const double alpha = node.floating("alpha");
  const double beta = node.floating("beta");
  for (size_t i = 0; i < out.size(); ++i) out[i] = scaled_sum(alpha, out[i], beta, addend[i]);
  node.store(0, std::move(out));
}

void eval_gemm(Eval& node) {
  if (tensor::is_floating(node.dtype(0))) return eval_floats(node);
  eval_integers(node);
}

}  // namespace

OperatorRows operator_linear_gemm() {
  static constexpr Operator kRows[] = {
      {.name = "Gemm",
       .traits = {Nature::product, {.product = ProductKind::matrices, .has_bias = true}},
       .infer = infer_gemm,
       .eval = eval_gemm,
       .macs = macs_of_gemm},
  };
  return kRows;
}

}  // namespace assay::ops
