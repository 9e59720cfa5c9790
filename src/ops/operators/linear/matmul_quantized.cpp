#include "ops/kernels/product/batched_product.h"
#include "ops/kernels/quantization/requantize.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// A scale or zero point is for the whole operand, for each row (of the left one) or column (of the right one), or has
// the operand's rank with 1 for the summed dim.
void check_parameter(const Infer& node, uint32_t input, uint32_t operand, bool is_left) {
  if (!node.has(input) || !node.is_ranked(input) || !node.is_ranked(operand)) return;
  const Dims& dims = node.dims(input);
  const Dims& matrix = node.dims(operand);
  if (product(dims).is(1)) return;
  const size_t rank = matrix.size();
  bool fits = rank >= 2 && (dims.size() == 1 || dims.size() == rank);
  if (fits) {
    Dims expected = {matrix[is_left ? rank - 2 : rank - 1]};
    if (dims.size() == rank) expected = matrix;
    if (dims.size() == rank) expected[is_left ? rank - 1 : rank - 2] = 1;
    for (size_t i = 0; fits && i < dims.size(); ++i) {
      fits = !dims[i].is_number() || !expected[i].is_number() || dims[i].equals(expected[i]);
    }
  }
  if (!fits) {
    fail(ErrorCode::shape, "a scale or zero point of shape {} is neither for the whole of {} nor for its {}",
         text(dims), text(matrix), is_left ? "rows" : "columns");
  }
}

struct Inputs {
  uint32_t b, a_zero, b_zero;
};

void infer_product(Infer& node, const Inputs& at) {
  check_parameter(node, at.a_zero, 0, true);
  check_parameter(node, at.b_zero, at.b, false);
  if (node.is_ranked(0) && node.is_ranked(at.b)) node.set_dims(0, matmul_dims(node.dims(0), node.dims(at.b)));
}

Dim macs_of_product(const Infer& node, uint32_t b) {
  if (!node.is_ranked(0) || !node.is_ranked(b) || !node.output(0).type.dims) return {};
  return matmul_macs(node.dims(0), *node.output(0).type.dims);
}

// One value for each item of a matrix operand, for any number of matrices.
class Parameter {
 public:
  Parameter(const Eval& node, uint32_t input, double otherwise, const Shape& operand, bool is_left)
      : values_(node.has(input) ? node.load<double>(input) : std::vector<double>{otherwise}) {
    const bool has_rows = operand.size() >= 2;
    columns_ = operand.empty() ? 1 : static_cast<uint64_t>(operand.back());
    rows_ = has_rows ? static_cast<uint64_t>(operand[operand.size() - 2]) : 1;
    is_left_ = is_left;
    is_list_ = node.has(input) && node.rank(input) <= 1;
  }
  // For the element at `place` of a tensor whose last two dims are rows and columns.
  double at(uint64_t place) const {
    if (values_.size() == 1) return values_[0];
    const uint64_t row = place / columns_ % rows_;
    const uint64_t matrix = is_list_ ? 0 : place / (rows_ * columns_);
    return is_left_ ? values_[matrix * rows_ + row] : values_[matrix * columns_ + place % columns_];
  }

 private:
  std::vector<double> values_;
  uint64_t rows_, columns_;
  bool is_left_, is_list_;
};

Tensor centered(const Eval& node, uint32_t input, uint32_t zero_point, bool is_left) {
  const Shape& shape = node.shape(input);
  std::vector<double> values = node.load<double>(input);
  const Parameter zero(node, zero_point, 0, shape, is_left);
  for (uint64_t i = 0; i < values.size(); ++i) values[i] -= zero.at(i);
  return make_rounded(DType::float64, shape, std::move(values));
}

// Exact: products of 8-bit numbers stay far below 2^53.
std::vector<double> centered_product(const Eval& node, const Inputs& at) {
  return matmul(centered(node, 0, at.a_zero, true), centered(node, at.b, at.b_zero, false), node.out_shape(0));
}

void infer_integer(Infer& node) { infer_product(node, {1, 2, 3}); }

void eval_integer(Eval& node) {
  const std::vector<double> sums = centered_product(node, {1, 2, 3});
  node.store(0, std::vector<int64_t>(sums.begin(), sums.end()));
}

void infer_qlinear(Infer& node) {
  check_parameter(node, 1, 0, true);
  check_parameter(node, 4, 3, false);
  infer_product(node, {3, 2, 5});
  if (!node.output(0).type.dims || node.output(0).type.dims->size() < 2) return;
  for (const uint32_t input : {6U, 7U}) {
    if (!node.is_ranked(input) || node.rank(input) <= 1) continue;
    broadcast(*node.output(0).type.dims, node.dims(input));
  }
}

void eval_qlinear(Eval& node) {
  std::vector<double> values = centered_product(node, {3, 2, 5});
  const Shape shape = node.out_shape(0);
  const bool has_rows = node.rank(0) > 1;
  const bool has_columns = node.rank(3) > 1;
  Shape matrices = shape;
  if (!has_rows) matrices.insert(matrices.end() - (has_columns ? 1 : 0), 1);
  if (!has_columns) matrices.push_back(1);
  const Parameter a_scale(node, 1, 1, matrices, true);
  const Parameter b_scale(node, 4, 1, matrices, false);
  const Parameter y_scale(node, 6, 1, matrices, true);
  const Parameter y_zero(node, 7, 0, matrices, true);
  const Quantizer quantize(node.out_dtype(0));
  for (uint64_t i = 0; i < values.size(); ++i) {
    values[i] = quantize(values[i] * (a_scale.at(i) * b_scale.at(i)) / y_scale.at(i), y_zero.at(i));
  }
  node.store(0, std::move(values));
}

}  // namespace

OperatorRows operator_linear_matmul_quantized() {
  static constexpr Operator kRows[] = {
      {.name = "MatMulInteger",
       .traits = {Nature::product, {.codes = {0, 1}}},
       .infer = infer_integer,
       .eval = eval_integer,
       .macs = [](const Infer& node) { return macs_of_product(node, 1); }},
      {.name = "QLinearMatMul",
       .traits = {Nature::product, {.rounding = RoundingClass::coded, .codes = {0, 3}, .scales = {1, 4, 6}}},
       .infer = infer_qlinear,
       .eval = eval_qlinear,
       .macs = [](const Infer& node) { return macs_of_product(node, 3); }},
  };
  return kRows;
}

}  // namespace assay::ops
