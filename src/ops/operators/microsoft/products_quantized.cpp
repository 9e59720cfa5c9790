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

// Weights of N columns with K numbers of few bits each, in blocks that share a scale and a zero point.
struct PackedWeights {
  uint64_t k, n, bits, block, blocks;

  explicit PackedWeights(const Node& node)
      : k(number(node, "K")),
        n(number(node, "N")),
        bits(number(node, "bits")),
        block(number(node, "block_size")),
        blocks((k + block - 1) / block) {
    if (bits != 2 && bits != 4 && bits != 8) fail(ErrorCode::shape, "`bits` is {}, it must be 2, 4 or 8", bits);
    if (block < 16 || (block & (block - 1)) != 0)
      fail(ErrorCode::shape, "`block_size` {} is no power of 2 from 16 on", block);
  }
  uint64_t zero_bytes() const { return (blocks * bits + 7) / 8; }  // of one column

  // The number `at` of a run of packed bytes.
  double unpack(std::span<const uint64_t> bytes, uint64_t at) const {
    const uint64_t bit = at * bits;
    return static_cast<double>(bytes[bit / 8] >> (bit % 8) & ((uint64_t{1} << bits) - 1));
  }

 private:
  static uint64_t number(const Node& node, std::string_view name) {
    const int64_t value = node.integer(name);
    if (value < 1 || value > INT32_MAX) fail(ErrorCode::shape, "`{}` is {}", name, value);
    return static_cast<uint64_t>(value);
  }
};

void require_elements(const Infer& node, uint32_t input, uint64_t needed) {
  if (!node.is_ranked(input)) return;
  const std::optional<int64_t> count = product(node.dims(input)).number();
  if (!count || *count == static_cast<int64_t>(needed)) return;
  fail(ErrorCode::shape, "input {} has {} elements, {} are needed", input, *count, needed);
}

void infer_n_bits(Infer& node) {
  const PackedWeights weights(node);
  require_elements(node, 1, weights.n * weights.blocks * weights.block * weights.bits / 8);
  require_elements(node, 2, weights.n * weights.blocks);
  if (node.has(3))
    require_elements(node, 3, weights.n * (node.dtype(3) == DType::uint8 ? weights.zero_bytes() : weights.blocks));
  if (node.is_ranked(4) && product(node.dims(4)).is_number() &&
      *product(node.dims(4)).number() < static_cast<int64_t>(weights.k)) {
    fail(ErrorCode::shape, "`g_idx` has shape {}, one group is needed for each of {} rows", text(node.dims(4)),
         weights.k);
  }
  if (node.has(5)) require_elements(node, 5, weights.n);
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  if (dims.empty()) fail(ErrorCode::shape, "A must have a rank of 1 or more");
  unify(dims.back(), static_cast<int64_t>(weights.k), "the last dim of A and `K`");
  dims.back() = static_cast<int64_t>(weights.n);
  node.set_dims(0, std::move(dims));
}

// B as [K, N].
Tensor unpacked_weights(const Eval& node, const PackedWeights& weights) {
  const std::vector<uint64_t> packed = node.load<uint64_t>(1);
  const std::vector<double> scales = node.load<double>(2);
  const bool are_packed = node.has(3) && node.dtype(3) == DType::uint8;
  const std::vector<uint64_t> packed_zeros = are_packed ? node.load<uint64_t>(3) : std::vector<uint64_t>{};
  const std::vector<double> zeros = node.has(3) && !are_packed ? node.load<double>(3) : std::vector<double>{};
  const std::vector<int64_t> groups = node.has(4) ? node.integers_in(4) : std::vector<int64_t>{};
  const uint64_t column_bytes = weights.blocks * weights.block * weights.bits / 8;
  std::vector<double> result(weights.k * weights.n);
  for (uint64_t n = 0; n < weights.n; ++n) {
    const std::span<const uint64_t> column = std::span(packed).subspan(n * column_bytes, column_bytes);
    for (uint64_t k = 0; k < weights.k; ++k) {
      const auto group = groups.empty() ? static_cast<int64_t>(k / weights.block) : groups[k];
      if (group < 0 || group >= static_cast<int64_t>(weights.blocks))
        fail(ErrorCode::shape, "group {} is out of range, there are {}", group, weights.blocks);
      const auto b = static_cast<uint64_t>(group);
      double zero = std::ldexp(1.0, static_cast<int>(weights.bits) - 1);
      if (are_packed) zero = weights.unpack(std::span(packed_zeros).subspan(n * weights.zero_bytes()), b);
      if (!zeros.empty()) zero = zeros[n * weights.blocks + b];
      result[k * weights.n + n] = (weights.unpack(column, k) - zero) * scales[n * weights.blocks + b];
    }
  }
  return make_rounded(DType::float64, {static_cast<int64_t>(weights.k), static_cast<int64_t>(weights.n)},
                      std::move(result));
}

void eval_n_bits(Eval& node) {
  const PackedWeights weights(node);
  std::vector<double> result = matmul(node.tensor_in(0), unpacked_weights(node, weights), node.out_shape(0));
  const std::vector<double> bias = load_or_empty(node, 5);
  for (uint64_t i = 0; i < result.size() && !bias.empty(); ++i) result[i] += bias[i % weights.n];
  node.store(0, std::move(result));
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
       .name = "MatMulNBits",
       .traits = {Nature::product, {.codes = {1}, .scales = {2}}},
       .infer = infer_n_bits,
       .eval = eval_n_bits,
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
