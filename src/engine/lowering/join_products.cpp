#include "engine/lowering/join_products.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "engine/lowering/quantized_groups.h"
#include "ir/queries.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "schema/imports.h"
#include "tensor/derived.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;
using ir::ValueId;
using tensor::Tensor;

constexpr int64_t kFirstSplitOfOperands = 13;

// A MatMul by [depth, columns], and what is added to its rows.
struct Product {
  NodeId matmul;
  const Tensor* weights = nullptr;
  NodeId add;                    // invalid: there is none
  const Tensor* bias = nullptr;  // [columns]

  int64_t columns() const { return weights->shape()[1]; }
  NodeId last() const { return add.valid() ? add : matmul; }
};

// Matrices of as many rows side by side.
Tensor side_by_side(const std::vector<const Tensor*>& parts) {
  const auto row_bytes = [](const Tensor& part) {
    return static_cast<size_t>(part.shape().back() * tensor::bit_width(part.dtype()) / 8);
  };
  tensor::Shape dims = parts[0]->shape();
  dims.back() = 0;
  size_t row = 0;
  for (const Tensor* const part : parts) {
    dims.back() += part->shape().back();
    row += row_bytes(*part);
  }
  const size_t rows = dims.size() > 1 ? static_cast<size_t>(dims[0]) : 1;
  std::vector<Tensor> kept;
  for (const Tensor* const part : parts) kept.push_back(*part);
  const auto fill = [kept = std::move(kept), rows, row, row_bytes](std::span<std::byte> bytes) {
    size_t first = 0;
    for (const Tensor& part : kept) {
      const size_t size = row_bytes(part);
      const std::byte* const from = part.bytes().data();
      for (size_t r = 0; r < rows; ++r) {
        std::memcpy(bytes.data() + r * row + first, from + r * size, size);
      }
      first += size;
      part.storage()->release();  // no longer needed
    }
  };
  return Tensor(parts[0]->dtype(), std::move(dims), tensor::make_derived(rows * row, fill));
}

class ProductJoiner {
 public:
  explicit ProductJoiner(passes::PassRun& run) : run_(run), inferred_(run) {}

  void run() {
    // Groups of products alike, in the order in which their nodes stand.
    std::map<std::tuple<ValueId, int64_t, tensor::DType, bool>, std::vector<Product>> groups;
    for (const NodeId node : ir::nodes(model(), model().main_graph())) {
      const std::optional<Product> found = find_product(node);
      if (!found) continue;
      const Tensor& weights = *found->weights;
      groups[{ir::operand(model(), node, 0), weights.shape()[0], weights.dtype(), found->bias != nullptr}].push_back(
          *found);
    }
    for (const auto& [key, products] : groups) {
      if (products.size() > 1) join(products);
    }
  }

 private:
  const ir::Model& model() const { return run_.model(); }

  std::optional<Product> find_product(NodeId node) {
    if (!run_.is_op(node, "MatMul")) return std::nullopt;
    Product product{.matmul = node, .weights = run_.constant(ir::operand(model(), node, 1))};
    const bool is_matrix = product.weights != nullptr && product.weights->shape().size() == 2 &&
                           product.weights->count() > 0 && tensor::bit_width(product.weights->dtype()) >= 8;
    if (!is_matrix) return std::nullopt;
    const NodeId user = only_user(model(), ir::result(model(), node));
    if (user.valid() && run_.is_op(user, "Add")) {
      const bool is_first = ir::operand(model(), user, 0) == ir::result(model(), node);
      product.add = user;
      product.bias = run_.constant(ir::operand(model(), user, is_first ? 1 : 0));
      if (product.bias == nullptr || product.bias->shape() != tensor::Shape{product.columns()}) return std::nullopt;
    }
    return becomes_heads(ir::result(model(), product.last())) ? std::optional(product) : std::nullopt;
  }

  // True if all users of a value are a Reshape that divides its last dim and no other.
  bool becomes_heads(ValueId value) {
    const NodeId user = only_user(model(), value);
    if (!user.valid() || !run_.is_op(user, "Reshape") || ir::operand(model(), user, 0) != value) return false;
    const std::optional<tensor::Shape> from = inferred_.shape(value);
    const std::optional<tensor::Shape> to = inferred_.shape(ir::result(model(), user));
    return from && to && to->size() == from->size() + 1 && std::equal(from->begin(), from->end() - 1, to->begin());
  }

  void join(const std::vector<Product>& products) {
    std::vector<const Tensor*> weights, biases;
    std::vector<int64_t> columns;
    std::vector<ir::TypeId> types;
    ir::Patch patch;
    for (const Product& product : products) {
      weights.push_back(product.weights);
      biases.push_back(product.bias);
      columns.push_back(product.columns());
      types.emplace_back();
    }
    const NodeId first = products[0].matmul;
    PatchValue joined =
        patch.add({.op = "MatMul",
                   .name = model()[first].name,
                   .operands = {ir::operand(model(), first, 0), patch.add_constant(side_by_side(weights))}});
    if (biases[0] != nullptr)
      joined = patch.add({.op = "Add", .operands = {joined, patch.add_constant(side_by_side(biases))}});
    const PatchValue parts = patch.add({.op = "Split",
                                        .operands = {joined, patch.add_constant(passes::integer_tensor(columns))},
                                        .attributes = {ir::Attribute::of(run_.edit().intern("axis"), int64_t{-1})},
                                        .result_types = std::move(types)});
    for (size_t i = 0; i < products.size(); ++i) {
      patch.replace(ir::result(model(), products[i].last()), patch.result(parts, static_cast<uint32_t>(i)));
      if (products[i].add.valid()) patch.remove(products[i].add);
      patch.remove(products[i].matmul);
    }
    patch.insert_before(first);
    run_.rewriter().commit("{0} and its like as one product", patch);
  }

  passes::PassRun& run_;
  passes::Inferred inferred_;
};

}  // namespace

void join_products(ir::Model& model, ir::Rewriter& rewriter) {
  if (schema::imported_version(model) < kFirstSplitOfOperands) return;
  const std::array<passes::Pass, 1> pass = {{{.name = "join-products",
                                              .summary = "one product for queries, keys and values",
                                              .pass_class = passes::PassClass::exact,
                                              .run = [](passes::PassRun& run) { ProductJoiner(run).run(); }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
