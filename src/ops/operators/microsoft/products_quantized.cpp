#include <algorithm>
#include <cmath>

#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/product/batched_product.h"
#include "ops/kernels/quantization/dynamic_codes.h"
#include "ops/kernels/quantization/numeric_limits.h"
#include "ops/kernels/quantization/rounding.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// A scale, zero point or bias of the columns of B: one for all, or one for each.
void check_column_factor(const Infer& node, uint32_t input) {
  if (!node.is_ranked(input) || !node.is_ranked(1) || product(node.dims(input)).is(1)) return;
  if (node.rank(1) == 0) fail(ErrorCode::shape, "a scalar cannot be multiplied as a matrix");
  unify(product(node.dims(input)), node.dims(1).back(), "columns of B and factors for them");
}

void check_single(const Infer& node, uint32_t input) {
  if (!node.is_ranked(input) || !product(node.dims(input)).is_number() || product(node.dims(input)).is(1)) return;
  fail(ErrorCode::shape, "input {} must be one element, its shape is {}", input, text(node.dims(input)));
}

Dim macs_of_product(const Infer& node) {
  if (!node.is_ranked(0) || !node.output(0).type.dims) return {};
  return matmul_macs(node.dims(0), *node.output(0).type.dims);
}

void infer_to_float(Infer& node) {
  check_single(node, 2);
  check_single(node, 4);
  for (const uint32_t input : {3U, 5U, 6U}) check_column_factor(node, input);
  if (node.is_ranked(0) && node.is_ranked(1)) node.set_dims(0, matmul_dims(node.dims(0), node.dims(1)));
}

double factor_at(const std::vector<double>& factors, uint64_t column, double otherwise) {
  if (factors.empty()) return otherwise;
  return factors[factors.size() == 1 ? 0 : column % factors.size()];
}

std::vector<double> load_or_empty(const Eval& node, uint32_t input) {
  return node.has(input) ? node.load<double>(input) : std::vector<double>{};
}

Tensor centered(const Tensor& tensor, const std::vector<double>& zeros) {
  std::vector<double> values = load_elements<double>(tensor);
  for (uint64_t i = 0; i < values.size(); ++i) values[i] -= factor_at(zeros, i, 0);
  return make_rounded(DType::float64, tensor.shape(), std::move(values));
}

// Sums of centered integers times both scales, plus a bias.
void store_scaled(Eval& node, const Tensor& a, const Tensor& b, double a_scale, const std::vector<double>& b_scale,
                  const std::vector<double>& bias) {
  std::vector<double> result = matmul(a, b, node.out_shape(0));
  for (uint64_t i = 0; i < result.size(); ++i) {
    result[i] = result[i] * (a_scale * factor_at(b_scale, i, 1)) + factor_at(bias, i, 0);
  }
  node.store(0, std::move(result));
}

void eval_to_float(Eval& node) {
  store_scaled(node, centered(node.tensor_in(0), load_or_empty(node, 4)),
               centered(node.tensor_in(1), load_or_empty(node, 5)), node.scalar<double>(2, 1), node.load<double>(3),
               load_or_empty(node, 6));
}

void infer_dynamic(Infer& node) {
  for (const uint32_t input : {2U, 3U, 4U}) check_column_factor(node, input);
  if (node.is_ranked(0) && node.is_ranked(1)) node.set_dims(0, matmul_dims(node.dims(0), node.dims(1)));
}

// A becomes 8-bit numbers, which the product is of.
void eval_dynamic(Eval& node) {
  std::vector<double> a = node.load<double>(0);
  const DynamicCodes found = to_dynamic_codes(a, node.is_wide(), node.code_draw());
  for (double& x : a) x -= found.zero;
  store_scaled(node, make_rounded(DType::float64, node.shape(0), std::move(a)),
               centered(node.tensor_in(1), load_or_empty(node, 3)), found.scale, node.load<double>(2),
               load_or_empty(node, 4));
}

// Both operands are 2-dimensional; C is added to the sums of integers.
void infer_qgemm(Infer& node) {
  node.require_rank(0, 2);
  node.require_rank(3, 2);
  if (!node.has(8) && node.dtype(0) != DType::undefined) node.set_dtype(0, DType::float32);
  if (node.has(8) && node.dtype(8) != DType::undefined) node.set_dtype(0, node.dtype(8));
  for (const uint32_t input : {1U, 2U, 7U, 8U}) check_single(node, input);
  if (!node.is_ranked(0) || !node.is_ranked(3)) return node.set_dims(0, Dims(2));
  const Dims& a = node.dims(0);
  const Dims& b = node.dims(3);
  const bool turns_a = node.flag("transA");
  const bool turns_b = node.flag("transB");
  unify(a[turns_a ? 0 : 1], b[turns_b ? 1 : 0], "inner dims");
  Dims dims = {a[turns_a ? 1 : 0], b[turns_b ? 0 : 1]};
  for (const uint32_t input : {4U, 5U}) {
    if (node.is_ranked(input) && !product(node.dims(input)).is(1))
      unify(dims[1], product(node.dims(input)), "columns and their factors");
  }
  if (node.is_ranked(6)) broadcast(dims, node.dims(6));
  node.set_dims(0, std::move(dims));
}

Tensor turned(const Tensor& matrix) {
  const Shape& shape = matrix.shape();
  const std::vector<double> from = load_elements<double>(matrix);
  std::vector<double> to(from.size());
  const auto rows = static_cast<uint64_t>(shape[0]);
  const auto columns = static_cast<uint64_t>(shape[1]);
  for (uint64_t i = 0; i < from.size(); ++i) to[i % columns * rows + i / columns] = from[i];
  return make_rounded(DType::float64, {shape[1], shape[0]}, std::move(to));
}

void eval_qgemm(Eval& node) {
  const Tensor a = node.flag("transA") ? turned(node.tensor_in(0)) : node.tensor_in(0);
  const Tensor b = node.flag("transB") ? turned(node.tensor_in(3)) : node.tensor_in(3);
  const Shape shape = node.out_shape(0);
  std::vector<double> result = matmul(centered(a, node.load<double>(2)), centered(b, node.load<double>(5)), shape);
  std::vector<double> addend(result.size());
  if (node.has(6)) BroadcastReader(node.tensor_in(6), shape).read(0, std::span(addend));
  const double a_scale = node.floating("alpha") * node.scalar<double>(1, 1);
  const std::vector<double> b_scale = node.load<double>(4);
  const double y_scale = node.scalar<double>(7, 1);
  const double y_zero = node.scalar<double>(8, 0);
  const DType to = node.out_dtype(0);
  for (uint64_t i = 0; i < result.size(); ++i) {
    result[i] = (result[i] + addend[i]) * (a_scale * factor_at(b_scale, i, 1));
    if (tensor::is_floating(to)) continue;
    result[i] = std::clamp(round_even(result[i] / y_scale) + y_zero, lowest_of<double>(to), highest_of<double>(to));
  }
  node.store(0, std::move(result));
}

}  // namespace

OperatorRows operator_microsoft_products_quantized() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "MatMulIntegerToFloat",
       .traits = {Nature::product, {.codes = {0, 1}, .scales = {2, 3}}},
       .infer = infer_to_float,
       .eval = eval_to_float,
       .macs = macs_of_product},
      {.domain = kMicrosoft,
       .name = "DynamicQuantizeMatMul",
       .traits = {Nature::product, {.codes = {1}, .scales = {2}}},
       .infer = infer_dynamic,
       .eval = eval_dynamic,
       .macs = macs_of_product},
      {.domain = kMicrosoft,
       .name = "QGemm",
       .traits = {Nature::product, {.rounding = RoundingClass::coded, .codes = {0, 3}, .scales = {1, 4, 7}}},
       .infer = infer_qgemm,
       .eval = eval_qgemm},
  };
  return kRows;
}

}  // namespace assay::ops
