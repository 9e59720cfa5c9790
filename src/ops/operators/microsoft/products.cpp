#include <algorithm>
#include <cmath>

#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/elements/fused_activation.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/product/batched_product.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The order of the axes of an operand as it is multiplied: the last two swapped, or the first one put behind the batch.
std::vector<size_t> operand_order(const Node& node, size_t rank, bool is_left) {
  std::vector<size_t> order(rank);
  for (size_t a = 0; a < rank; ++a) order[a] = a;
  if (rank < 2) return order;
  if (node.integer(is_left ? "transBatchA" : "transBatchB", 0) != 0 && rank > 2) {
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  }
  if (node.flag(is_left ? "transA" : "transB")) std::swap(order[rank - 2], order[rank - 1]);
  return order;
}

Dims operand_dims(const Infer& node, uint32_t input) {
  Dims dims;
  for (const size_t axis : operand_order(node, node.dims(input).size(), input == 0))
    dims.push_back(node.dims(input)[axis]);
  return dims;
}

Tensor operand(const Eval& node, uint32_t input) {
  const Shape& shape = node.shape(input);
  const std::vector<int64_t> strides = row_major_strides(shape);
  Shape to;
  std::vector<int64_t> moved;
  for (const size_t axis : operand_order(node, shape.size(), input == 0)) {
    to.push_back(shape[axis]);
    moved.push_back(strides[axis]);
  }
  return copy_strided(node.tensor_in(input), to, 0, moved);
}

void infer_fused_matmul(Infer& node) {
  if (node.all_ranked()) node.set_dims(0, matmul_dims(operand_dims(node, 0), operand_dims(node, 1)));
}

Dim macs_of_fused(const Infer& node) {
  if (!node.all_ranked() || !node.output(0).type.dims) return {};
  return matmul_macs(operand_dims(node, 0), *node.output(0).type.dims);
}

void eval_fused_matmul(Eval& node) {
  std::vector<double> result = matmul(operand(node, 0), operand(node, 1), node.out_shape(0));
  const double alpha = node.floating("alpha");
  for (double& x : result) x *= alpha;
  node.store(0, std::move(result));
}

FusedActivation activation_of(const Node& node) {
  std::vector<double> parameters;
  for (const std::string_view name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (!node.has_attribute(name)) break;
    parameters.push_back(node.floating(name));
  }
  return FusedActivation(node.string("activation", ""), std::move(parameters));
}

void infer_fused_gemm(Infer& node) {
  activation_of(node);
  node.require_rank(0, 2);
  node.require_rank(1, 2);
  if (!node.is_ranked(0) || !node.is_ranked(1)) return node.set_dims(0, Dims(2));
  Dims dims = matmul_dims(operand_dims(node, 0), operand_dims(node, 1));
  if (node.is_ranked(2) && broadcast(dims, node.dims(2)).size() != 2) {
    fail(ErrorCode::shape, "C of shape {} does not fit {}", text(node.dims(2)), text(dims));
  }
  node.set_dims(0, std::move(dims));
}

void eval_fused_gemm(Eval& node) {
  const Shape shape = node.out_shape(0);
  std::vector<double> result = matmul(operand(node, 0), operand(node, 1), shape);
  std::vector<double> addend(result.size());
  if (node.has(2)) BroadcastReader(node.tensor_in(2), shape).read(0, std::span(addend));
  const double alpha = node.floating("alpha");
  const double beta = node.floating("beta");
  const FusedActivation activation = activation_of(node);
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = activation(alpha * result[i] + (node.has(2) ? beta * addend[i] : 0));
  }
  node.store(0, std::move(result));
}

void infer_matmul(Infer& node) {
  if (node.is_ranked(0) && node.is_ranked(1)) node.set_dims(0, matmul_dims(node.dims(0), node.dims(1)));
}

Dim macs_of_matmul(const Infer& node) {
  if (!node.is_ranked(0) || !node.is_ranked(1) || !node.output(0).type.dims) return {};
  return matmul_macs(node.dims(0), *node.output(0).type.dims);
}

void infer_integer16(Infer& node) {
  const bool is_unsigned = node.dtype(0) == DType::uint16 && node.dtype(1) == DType::uint16;
  if (node.dtype(0) != DType::undefined) node.set_dtype(0, is_unsigned ? DType::uint32 : DType::int32);
  infer_matmul(node);
}

void eval_integer16(Eval& node) {
  const std::vector<double> sums = matmul(node.tensor_in(0), node.tensor_in(1), node.out_shape(0));
  node.store(0, std::vector<int64_t>(sums.begin(), sums.end()));
}

void infer_gemm_fast_gelu(Infer& node) {
  infer_matmul(node);
  if (!node.is_ranked(1) || !node.is_ranked(2)) return;
  node.require_rank(2, 1);
  unify(node.dims(1).back(), node.dims(2)[0], "columns and biases");
}

void eval_gemm_fast_gelu(Eval& node) {
  std::vector<double> result = matmul(node.tensor_in(0), node.tensor_in(1), node.out_shape(0));
  std::vector<double> bias(result.size());
  if (node.has(2)) BroadcastReader(node.tensor_in(2), node.out_shape(0)).read(0, std::span(bias));
  for (size_t i = 0; i < result.size(); ++i) result[i] = fast_gelu(result[i] + bias[i]);
  node.store(0, std::move(result));
}

}  // namespace

OperatorRows operator_microsoft_products() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "FusedMatMul",
       .traits = {Nature::product},
       .infer = infer_fused_matmul,
       .eval = eval_fused_matmul,
       .macs = macs_of_fused},
      {.domain = kMicrosoft,
       .name = "TransposeMatMul",
       .traits = {Nature::product},
       .infer = infer_fused_matmul,
       .eval = eval_fused_matmul,
       .macs = macs_of_fused},
      {.domain = kMicrosoft,
       .name = "FusedGemm",
       .traits = {Nature::product},
       .infer = infer_fused_gemm,
       .eval = eval_fused_gemm,
       .macs = macs_of_fused},
      {.domain = kMicrosoft,
       .name = "MatMulInteger16",
       .traits = {Nature::product, {.codes = {0, 1}}},
       .infer = infer_integer16,
       .eval = eval_integer16,
       .macs = macs_of_matmul},
      {.domain = kMicrosoft,
       .name = "GemmFastGelu",
       .traits = {Nature::product},
       .infer = infer_gemm_fast_gelu,
       .eval = eval_gemm_fast_gelu,
       .macs = macs_of_matmul},
  };
  return kRows;
}

}  // namespace assay::ops
