#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/product/batched_product.h"
#include "ops/kernels/product/integer_product.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_matmul(Infer& node) {
  if (node.all_ranked()) node.set_dims(0, matmul_dims(node.dims(0), node.dims(1)));
}

Dim macs_of_matmul(const Infer& node) {
  if (!node.all_ranked() || !node.output(0).type.dims) return {};
  return matmul_macs(node.dims(0), *node.output(0).type.dims);
}

std::vector<uint64_t> load_bits(const Tensor& tensor) {
  const std::vector<int64_t> values = load_elements<int64_t>(tensor);
  return {values.begin(), values.end()};
}

Shape lead_of(const Shape& shape) { return {shape.begin(), shape.end() - std::min<ptrdiff_t>(2, std::ssize(shape))}; }

// The number of the matrix of an operand that belongs to each matrix of the result.
std::vector<uint64_t> matrix_numbers(const Shape& lead, const Shape& result_lead) {
  const uint64_t count = tensor::element_count(lead).value();
  std::vector<uint64_t> numbers(count);
  for (uint64_t i = 0; i < count; ++i) numbers[i] = i;
  const Tensor table = tensor::make_tensor<uint64_t>(DType::uint64, lead, numbers);
  const BroadcastReader reader(table, result_lead);
  std::vector<uint64_t> sources(tensor::element_count(result_lead).value());
  reader.read(0, std::span(sources));
  return sources;
}

void integer_product(const ProductSize& size, const uint64_t* a, const uint64_t* b, uint64_t* out) {
  integer_product(size, {a, size.depth}, {b, size.columns}, out);
}

// Modulo what `Bits` holds.
template <typename Bits>
void multiply_integers(Eval& node, const ProductSize& size) {
  std::vector<int64_t> out(node.out_count(0));
  if (!out.empty()) {
    const auto load = [&](uint32_t input) {
      const std::vector<uint64_t> bits = load_bits(node.tensor_in(input));
      return std::vector<Bits>(bits.begin(), bits.end());
    };
    const std::vector<Bits> a = load(0);
    const std::vector<Bits> b = load(1);
    Shape lead = node.out_shape(0);
    lead.resize(std::max(lead_of(node.shape(0)).size(), lead_of(node.shape(1)).size()));
    const std::vector<uint64_t> a_of = matrix_numbers(lead_of(node.shape(0)), lead);
    const std::vector<uint64_t> b_of = matrix_numbers(lead_of(node.shape(1)), lead);
    std::vector<Bits> sums(size.rows * size.columns);
    for (uint64_t m = 0; m < a_of.size(); ++m) {
      integer_product(size, a.data() + a_of[m] * size.rows * size.depth, b.data() + b_of[m] * size.depth * size.columns,
                      sums.data());
      std::ranges::copy(sums, out.begin() + static_cast<ptrdiff_t>(m * sums.size()));
    }
  }
  node.store(0, std::move(out));
}

// Integers of more than 32 bits are not exact in double, and none of them wraps there.
void eval_integers(Eval& node) {
  const Shape& left = node.shape(0);
  const Shape& right = node.shape(1);
  const bool is_row = left.size() == 1;
  const bool is_column = right.size() == 1;
  const ProductSize size{static_cast<uint64_t>(is_row ? 1 : left[left.size() - 2]),
                         static_cast<uint64_t>(is_column ? 1 : right.back()), static_cast<uint64_t>(left.back())};
  const bool is_narrow = tensor::bit_width(node.dtype(0)) <= 32;
  is_narrow ? multiply_integers<uint32_t>(node, size) : multiply_integers<uint64_t>(node, size);
}

void eval_matmul(Eval& node) {
  if (!tensor::is_floating(node.dtype(0))) return eval_integers(node);
  node.store(0, matmul(node.tensor_in(0), node.tensor_in(1), node.out_shape(0)));
}

}  // namespace

OperatorRows operator_linear_matmul() {
  static constexpr Operator kRows[] = {
      {.name = "MatMul",
       .traits = {Nature::product, {.product = ProductKind::matrices}},
       .infer = infer_matmul,
       .eval = eval_matmul,
       .macs = macs_of_matmul},
  };
  return kRows;
}

}  // namespace assay::ops
