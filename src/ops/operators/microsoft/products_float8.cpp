#include <algorithm>
#include <cmath>

#include "ops/kernels/product/batched_product.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr double kLargestFloat8 = 448;

int64_t block_size(const Node& node) {
  const int64_t size = node.integer("block_size");
  if (size < 1) fail(ErrorCode::shape, "attribute `block_size` is {}", size);
  return size;
}

// Weights [n, k], of which the columns of a block share a scale; a row of codes may hold two in each byte.
void infer_product(Infer& node, int64_t codes_in_element, uint32_t bias) {
  const int64_t block = block_size(node);
  node.require_rank(1, 2);
  node.require_rank(2, 2);
  node.require_rank(bias, 1);
  if (!node.is_ranked(0) || !node.is_ranked(1)) return;
  const Dim rows = node.dims(1)[0];
  const Dim depth = node.dims(1)[1] * Dim(codes_in_element);
  if (node.is_ranked(2)) {
    unify(node.dims(2)[0], rows, "rows of weights and scales");
    unify(node.dims(2)[1], ceil_div(depth, block), "blocks of weights and scales");
  }
  if (node.is_ranked(bias)) unify(node.dims(bias)[0], rows, "rows of weights and elements of the bias");
  Dims dims = node.dims(0);
  if (dims.empty()) fail(ErrorCode::shape, "A must have a rank of 1 or more");
  unify(dims.back(), depth, "the last dim of A and that of the weights");
  dims.back() = rows;
  node.set_dims(0, std::move(dims));
}

double rounded(double number, DType dtype) {
  return load_elements<double>(make_rounded(dtype, {}, std::vector<double>{number})).front();
}

// The product with weights [n, k] of lines of A, and the bias.
void store_product(Eval& node, const Tensor& a, const std::vector<double>& weights, int64_t n, uint32_t bias) {
  const int64_t k = node.shape(0).back();
  std::vector<double> turned(weights.size());
  for (uint64_t i = 0; i < weights.size(); ++i) {
    const auto row = i / static_cast<uint64_t>(k);
    turned[i % static_cast<uint64_t>(k) * static_cast<uint64_t>(n) + row] = weights[i];
  }
  std::vector<double> result = matmul(a, make_rounded(DType::float64, {k, n}, std::move(turned)), node.out_shape(0));
  if (node.has(bias)) {
    const std::vector<double> added = node.load<double>(bias);
    for (uint64_t i = 0; i < result.size(); ++i) result[i] += added[i % added.size()];
  }
  node.store(0, std::move(result));
}

void infer_float8(Infer& node) { infer_product(node, 1, 4); }

// With a scale of its own, A is rounded to float8, too.
void eval_float8(Eval& node) {
  const auto n = node.shape(1)[0];
  const auto k = static_cast<uint64_t>(node.shape(1)[1]);
  const auto block = static_cast<uint64_t>(block_size(node));
  std::vector<double> weights = node.load<double>(1);
  const std::vector<double> scales = node.load<double>(2);
  const uint64_t blocks = (k + block - 1) / block;
  for (uint64_t i = 0; i < weights.size(); ++i) weights[i] *= scales[i / k * blocks + i % k / block];
  if (!node.has(3)) return store_product(node, node.tensor_in(0), weights, n, 4);
  const double scale = node.load<double>(3).at(0);
  std::vector<double> a = node.load<double>(0);
  for (double& x : a) {
    const double divided = x / scale;
    const double clamped = std::isnan(divided) ? divided : std::clamp(divided, -kLargestFloat8, kLargestFloat8);
    x = rounded(clamped, DType::float8e4m3fn) * scale;
  }
  store_product(node, make_rounded(DType::float64, node.shape(0), std::move(a)), weights, n, 4);
}

void infer_float4(Infer& node) { infer_product(node, 2, 5); }

// Two numbers of 4 bits in a byte, the lower first; a scale of a block is a byte of float8. Weights are rounded to the
// type of A.
void eval_float4(Eval& node) {
  constexpr double kNumbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const auto n = node.shape(1)[0];
  const auto k = static_cast<uint64_t>(node.shape(1)[1]) * 2;
  const auto block = static_cast<uint64_t>(block_size(node));
  const std::vector<uint64_t> codes = node.load<uint64_t>(1);
  const Tensor& bytes = node.tensor_in(2);
  const std::vector<double> scales = load_elements<double>(Tensor(DType::float8e4m3fn, bytes.shape(), bytes.storage()));
  const double scale = node.load<double>(3).at(0);
  const uint64_t blocks = (k + block - 1) / block;
  std::vector<double> weights(static_cast<uint64_t>(n) * k);
  for (uint64_t i = 0; i < weights.size(); ++i) {
    const uint64_t code = i % 2 == 0 ? codes[i / 2] & 15 : codes[i / 2] >> 4;
    const double number = kNumbers[code & 7] * (code > 7 ? -1 : 1);
    weights[i] = rounded(number * scale * scales[i / k * blocks + i % k / block], node.tensor_in(0).dtype());
  }
  store_product(node, node.tensor_in(0), weights, n, 5);
}

Dim macs_of_product(const Infer& node) {
  if (!node.is_ranked(0) || !node.is_ranked(1)) return {};
  return product(node.dims(0)) * node.dims(1)[0];
}

}  // namespace

OperatorRows operator_microsoft_products_float8() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "MatMulBlockQuantizedFp4Weight",
       .traits = {Nature::product, {.codes = {1}, .scales = {2, 3, 4}}},
       .infer = infer_float4,
       .eval = eval_float4,
       .macs = macs_of_product},
      {.domain = kMicrosoft,
       .name = "MatMulBlockQuantizedFp8Weight",
       .traits = {Nature::product, {.codes = {1}, .scales = {2, 3}}},
       .infer = infer_float8,
       .eval = eval_float8,
       .macs = macs_of_product},
  };
  return kRows;
}

}  // namespace assay::ops
