#include <cmath>

#include "ops/kernels/elements/sigmoid.h"
#include "ops/kernels/product/batched_product.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

Dim macs_of_n_bits(const Infer& node) {
  if (!node.is_ranked(0) || !node.output(0).type.dims) return {};
  return matmul_macs(node.dims(0), *node.output(0).type.dims);
}

std::vector<double> load_or_empty(const Eval& node, uint32_t input) {
  return node.has(input) ? node.load<double>(input) : std::vector<double>{};
}

// Weights of N columns with K numbers of few bits each, in blocks that share a scale and a zero point.
struct PackedWeights {
  uint64_t k, n, bits, block, blocks;

  explicit PackedWeights(const Node& node, std::string_view columns = "N")
      : k(number(node, "K")),
        n(number(node, columns)),
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

// Zero points of blocks, packed or not, and the block of each row, where they are given.
struct Blocks {
  std::vector<uint64_t> packed_zeros;
  std::vector<double> zeros;
  std::vector<int64_t> groups;
};

Blocks blocks_of(const Eval& node) {
  Blocks blocks;
  if (node.has(3) && node.dtype(3) == DType::uint8) {
    blocks.packed_zeros = node.load<uint64_t>(3);
  } else if (node.has(3)) {
    blocks.zeros = node.load<double>(3);
  }
  if (node.has(4)) blocks.groups = node.integers_in(4);
  return blocks;
}

// The codes of input `first`, whose scales come behind them, as [K, N].
Tensor unpacked_weights(const Eval& node, const PackedWeights& weights, uint32_t first, const Blocks& blocks = {}) {
  const std::vector<uint64_t> packed = node.load<uint64_t>(first);
  const std::vector<double> scales = node.load<double>(first + 1);
  const auto& [packed_zeros, zeros, groups] = blocks;
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
      if (!packed_zeros.empty()) zero = weights.unpack(std::span(packed_zeros).subspan(n * weights.zero_bytes()), b);
      if (!zeros.empty()) zero = zeros[n * weights.blocks + b];
      result[k * weights.n + n] = (weights.unpack(column, k) - zero) * scales[n * weights.blocks + b];
    }
  }
  return make_rounded(DType::float64, {static_cast<int64_t>(weights.k), static_cast<int64_t>(weights.n)},
                      std::move(result));
}

void eval_n_bits(Eval& node) {
  const PackedWeights weights(node);
  std::vector<double> result =
      matmul(node.tensor_in(0), unpacked_weights(node, weights, 1, blocks_of(node)), node.out_shape(0));
  const std::vector<double> bias = load_or_empty(node, 5);
  for (uint64_t i = 0; i < result.size() && !bias.empty(); ++i) result[i] += bias[i % weights.n];
  node.store(0, std::move(result));
}

// Products that share a normalized input. Codes, scales and bias of each lie one behind the other from input 3 on.
constexpr uint32_t kSkip = 1;
constexpr uint32_t kNorm = 2;
constexpr uint32_t kFirstWeights = 3;

Dims infer_shared(const Infer& node, const PackedWeights& weights, uint32_t first) {
  require_elements(node, first, weights.n * weights.blocks * weights.block * weights.bits / 8);
  require_elements(node, first + 1, weights.n * weights.blocks);
  if (node.has(first + 2)) require_elements(node, first + 2, weights.n);
  Dims dims = node.dims(0);
  dims.back() = static_cast<int64_t>(weights.n);
  return dims;
}

// `residual` is the output for the sum of both inputs.
bool infer_normed(Infer& node, uint32_t residual) {
  if (node.has(kSkip) && !node.has(kNorm)) fail(ErrorCode::shape, "`skip` needs `norm_scale`");
  if (node.wants(residual) && !node.has(kSkip)) fail(ErrorCode::shape, "output {} needs `skip`", residual);
  const PackedWeights weights(node, node.op() == "MatMulNBitsQkv" ? "Nq" : "N");
  if (node.has(kNorm)) require_elements(node, kNorm, weights.k);
  if (!node.is_ranked(0)) return false;
  const Dims& dims = node.dims(0);
  if (dims.empty()) fail(ErrorCode::shape, "A must have a rank of 1 or more");
  unify(dims.back(), static_cast<int64_t>(weights.k), "the last dim of A and `K`");
  if (node.is_ranked(kSkip)) {
    node.require_rank(kSkip, node.rank(0));
    for (size_t a = 0; a < dims.size(); ++a) unify(dims[a], node.dims(kSkip)[a], "dims of A and of `skip`");
  }
  if (node.wants(residual)) node.set_dims(residual, dims);
  return true;
}

void infer_mlp(Infer& node) {
  if (node.string("activation") != "silu")
    fail(ErrorCode::unsupported, "activation `{}` is not supported", node.string("activation"));
  if (!infer_normed(node, 1)) return;
  const PackedWeights weights(node);
  infer_shared(node, weights, kFirstWeights + 3);
  node.set_dims(0, infer_shared(node, weights, kFirstWeights));
}

void infer_qkv(Infer& node) {
  if (!infer_normed(node, 3)) return;
  for (const uint32_t output : {0U, 1U, 2U})
    node.set_dims(output,
                  infer_shared(node, PackedWeights(node, output == 0 ? "Nq" : "Nkv"), kFirstWeights + 3 * output));
}

Tensor normed(Eval& node, uint32_t residual, uint64_t width) {
  std::vector<double> values = node.load<double>(0);
  if (node.has(kSkip)) {
    const std::vector<double> skip = node.load<double>(kSkip);
    for (uint64_t i = 0; i < values.size(); ++i) values[i] += skip[i];
  }
  if (node.wants(residual)) node.store(residual, values);
  const std::vector<double> scale = load_or_empty(node, kNorm);
  for (uint64_t row = 0; row < values.size() && !scale.empty(); row += width) {
    const std::span<double> seen = std::span(values).subspan(row, width);
    double sum = 0;
    for (const double x : seen) sum += x * x;
    const double size = std::sqrt(sum / static_cast<double>(width) + node.floating("epsilon"));
    for (uint64_t i = 0; i < width; ++i) seen[i] = seen[i] / size * scale[i];
  }
  return make_rounded(DType::float64, node.shape(0), std::move(values));
}

std::vector<double> shared_product(const Eval& node, const Tensor& a, const PackedWeights& weights, uint32_t first,
                                   uint32_t output) {
  std::vector<double> result = matmul(a, unpacked_weights(node, weights, first), node.out_shape(output));
  const std::vector<double> bias = load_or_empty(node, first + 2);
  for (uint64_t i = 0; i < result.size() && !bias.empty(); ++i) result[i] += bias[i % weights.n];
  return result;
}

void eval_mlp(Eval& node) {
  const PackedWeights weights(node);
  const Tensor a = normed(node, 1, weights.k);
  std::vector<double> gates = shared_product(node, a, weights, kFirstWeights, 0);
  const std::vector<double> values = shared_product(node, a, weights, kFirstWeights + 3, 0);
  for (uint64_t i = 0; i < gates.size(); ++i) gates[i] *= sigmoid(gates[i]) * values[i];
  node.store(0, std::move(gates));
}

void eval_qkv(Eval& node) {
  const Tensor a = normed(node, 3, PackedWeights(node, "Nq").k);
  for (const uint32_t output : {0U, 1U, 2U}) {
    const PackedWeights weights(node, output == 0 ? "Nq" : "Nkv");
    node.store(output, shared_product(node, a, weights, kFirstWeights + 3 * output, output));
  }
}

Dim macs_of_mlp(const Infer& node) { return macs_of_n_bits(node) * Dim(2); }

Dim macs_of_qkv(const Infer& node) {
  if (!node.is_ranked(0)) return {};
  return product(node.dims(0)) * Dim(node.integer("Nq") + 2 * node.integer("Nkv"));
}

}  // namespace

OperatorRows operator_microsoft_products_n_bits() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "MatMulNBits",
       .traits = {Nature::product, {.codes = {1}, .scales = {2}}},
       .infer = infer_n_bits,
       .eval = eval_n_bits,
       .macs = macs_of_n_bits},
      {.domain = kMicrosoft,
       .name = "MatMulNBitsMlp",
       .traits = {Nature::product, {.codes = {3, 6}, .scales = {4, 7}}},
       .infer = infer_mlp,
       .eval = eval_mlp,
       .macs = macs_of_mlp},
      {.domain = kMicrosoft,
       .name = "MatMulNBitsQkv",
       .traits = {Nature::product, {.codes = {3, 6, 9}, .scales = {4, 7, 10}}},
       .infer = infer_qkv,
       .eval = eval_qkv,
       .macs = macs_of_qkv},
  };
  return kRows;
}

}  // namespace assay::ops
