#include <array>

#include "ops/kernels/product/batched_product.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// The numbers of the two types of 4 bits that bitsandbytes has, by code; of fp4 the highest bit is the sign.
constexpr std::array<double, 8> kFloat4 = {0, 1.0 / 192, 2.0 / 3, 1, 1.0 / 3, 1.0 / 2, 1.0 / 6, 1.0 / 4};
constexpr std::array<double, 16> kNormalFloat4 = {-1.0,
                                                  -0.6961928009986877,
                                                  -0.5250730514526367,
                                                  -0.39491748809814453,
                                                  -0.28444138169288635,
                                                  -0.18477343022823334,
                                                  -0.09105003625154495,
                                                  0,
                                                  0.07958029955625534,
                                                  0.16093020141124725,
                                                  0.24611230194568634,
                                                  0.33791524171829224,
                                                  0.44070982933044434,
                                                  0.5626170039176941,
                                                  0.7229568362236023,
                                                  1.0};

// Weights [n, k] in one line of codes, of which each block shares a scale.
struct CodedWeights {
  int64_t n, k, block;
  bool is_normal, is_turned;

  explicit CodedWeights(const Node& node)
      : n(count(node, "N")),
        k(count(node, "K")),
        block(count(node, "block_size")),
        is_normal(node.integer("quant_type") == 1),
        is_turned(node.flag("transB")) {
    const int64_t type = node.integer("quant_type");
    if (type != 0 && type != 1) fail(ErrorCode::shape, "`quant_type` is {}, it must be 0 or 1", type);
    if (block < 16 || (block & (block - 1)) != 0)
      fail(ErrorCode::shape, "`block_size` {} is no power of 2 from 16 on", block);
  }
  int64_t elements() const { return n * k; }

 private:
  static int64_t count(const Node& node, std::string_view name) {
    const int64_t value = node.integer(name);
    if (value < 1 || value > INT32_MAX) fail(ErrorCode::shape, "`{}` is {}", name, value);
    return value;
  }
};

void require_elements(const Infer& node, uint32_t input, int64_t needed) {
  if (!node.is_ranked(input) || !product(node.dims(input)).is_number()) return;
  if (product(node.dims(input)).is(needed)) return;
  fail(ErrorCode::shape, "input {} has shape {}, {} elements are needed", input, text(node.dims(input)), needed);
}

void infer_coded_product(Infer& node) {
  const CodedWeights weights(node);
  require_elements(node, 1, (weights.elements() + 1) / 2);
  require_elements(node, 2, (weights.elements() + weights.block - 1) / weights.block);
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  if (dims.empty()) fail(ErrorCode::shape, "A must have a rank of 1 or more");
  unify(dims.back(), weights.is_turned ? weights.k : weights.n, "the last dim of A and that of the weights");
  dims.back() = weights.is_turned ? weights.n : weights.k;
  node.set_dims(0, std::move(dims));
}

// The weights as the product takes them; of two codes in a byte the higher one comes first.
Tensor decoded(const Eval& node, const CodedWeights& weights) {
  const std::vector<uint64_t> bytes = node.load<uint64_t>(1);
  const std::vector<double> scales = node.load<double>(2);
  std::vector<double> numbers(static_cast<size_t>(weights.elements()));
  for (uint64_t i = 0; i < numbers.size(); ++i) {
    const uint64_t code = i % 2 == 0 ? bytes[i / 2] >> 4 : bytes[i / 2] & 15;
    const double number = weights.is_normal ? kNormalFloat4[code] : kFloat4[code & 7] * (code > 7 ? -1 : 1);
    const uint64_t row = i / static_cast<uint64_t>(weights.k);
    const uint64_t column = i % static_cast<uint64_t>(weights.k);
    const uint64_t place = weights.is_turned ? column * static_cast<uint64_t>(weights.n) + row : i;
    numbers[place] = number * scales[i / static_cast<uint64_t>(weights.block)];
  }
  Shape shape = {weights.n, weights.k};
  if (weights.is_turned) std::swap(shape[0], shape[1]);
  return make_rounded(DType::float64, std::move(shape), std::move(numbers));
}

void eval_coded_product(Eval& node) {
  node.store(0, matmul(node.tensor_in(0), decoded(node, CodedWeights(node)), node.out_shape(0)));
}

Dim macs_of_coded_product(const Infer& node) {
  if (!node.is_ranked(0)) return {};
  const CodedWeights weights(node);
  return product(node.dims(0)) * Dim(weights.is_turned ? weights.n : weights.k);
}

}  // namespace

OperatorRows operator_microsoft_products_4bit() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "MatMulBnb4",
       .traits = {Nature::product, {.codes = {1}, .scales = {2}}},
       .infer = infer_coded_product,
       .eval = eval_coded_product,
       .macs = macs_of_coded_product},
  };
  return kRows;
}

}  // namespace assay::ops
