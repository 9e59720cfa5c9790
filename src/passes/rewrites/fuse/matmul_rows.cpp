// Before: MatMuls of one value of more than two dims with constant matrices, each with an Add of a constant and
// Reshapes
//         behind it, as attention computes queries, keys and values.
// After:  one Reshape of the value to rows, and for each MatMul a Gemm and the Reshapes.
// Only if: there are fewer nodes: two MatMuls at least, or one behind a Reshape, which merges with that to rows; what
//         is added has the size of the last dim; nothing else uses the products and sums; Reshapes have a known target.
// Class:  rounding; the sum is rounded once instead of twice.
#include <array>
#include <unordered_set>

#include "ir/queries.h"
#include "match/uses.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/reshapes.h"
#include "passes/rules.h"

namespace assay::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

constexpr size_t kMost = 64;  // of MatMuls in one step, and of Reshapes behind each

struct Context {
  PassRun& run;
  Inferred inferred;
  std::unordered_set<ValueId> known;
  std::vector<ValueId> multiplied;
  const ir::Model& model() const { return run.model(); }
};

struct Reshaped {
  NodeId node;
  std::vector<int64_t> target;
};

// One MatMul, and what follows it.
struct Product {
  NodeId matmul, add;
  ValueId weights, bias;
  std::vector<Reshaped> reshapes;
};

// A tensor that is there from the start.
const tensor::Tensor* initializer(Context& context, ValueId value) {
  return value && !producer(context.model(), value) ? context.run.constant(value) : nullptr;
}

std::optional<std::vector<Reshaped>> reshapes_of(Context& context, ValueId value) {
  std::vector<Reshaped> found;
  for (const ir::Use& use : ir::uses(context.model(), value)) {
    if (!is_reshape(context.run, use.user) || context.model()[use.user].graph != context.model()[value].graph)
      return {};
    const ops::Dims* dims = context.inferred.dims(result(context.model(), use.user));
    std::optional<std::vector<int64_t>> target = dims ? reshape_target(*dims) : std::nullopt;
    if (!target) return {};
    if (found.size() == kMost) return {};
    found.push_back({use.user, std::move(*target)});
  }
  return found;
}

std::optional<Product> find_product(Context& context, NodeId matmul, ValueId value) {
  const ir::Model& model = context.model();
  if (model[matmul].is_outputs || !context.run.is_op(matmul, "MatMul") || operand(model, matmul, 0) != value) return {};
  const ValueId product = result(model, matmul);
  const NodeId add = model[product].first_use ? model[product].first_use->user : NodeId{};
  if (!add || !match::is_only_for(model, product, add) || !context.run.is_op(add, "Add")) return {};
  const uint32_t index = operand(model, add, 0) == product ? 1 : 0;
  Product found{matmul, add, operand(model, matmul, 1), operand(model, add, index), {}};
  const tensor::Tensor* weights = initializer(context, found.weights);
  const tensor::Tensor* bias = initializer(context, found.bias);
  if (!weights || !bias || weights->shape().size() != 2 || bias->shape().size() != 1) return {};
  if (bias->shape()[0] != weights->shape()[1] && bias->shape()[0] != 1) return {};
  std::optional<std::vector<Reshaped>> reshapes = reshapes_of(context, result(model, add));
  if (!reshapes || reshapes->empty()) return {};
  found.reshapes = std::move(*reshapes);
  return found;
}

std::vector<Product> find_products(Context& context, ValueId value) {
  std::vector<Product> products;
  for (const ir::Use& use : ir::uses(context.model(), value)) {
    if (context.model()[use.user].graph != context.model()[value].graph) continue;
    if (std::optional<Product> found = find_product(context, use.user, value)) products.push_back(std::move(*found));
  }
  std::ranges::sort(products,
                    [&](const Product& a, const Product& b) { return context.model().is_before(a.matmul, b.matmul); });
  products.resize(std::min(products.size(), kMost));
  return products;
}

void commit(Context& context, ValueId value, int64_t width, const std::vector<Product>& products) {
  ir::Patch patch;
  patch.insert_before(products.front().matmul);
  const ir::PatchValue shape = patch.add_constant(integer_tensor({-1, width}));
  const ir::PatchValue rows = patch.add({.op = "Reshape", .operands = {value, shape}});
  for (const Product& product : products) {
    const ir::PatchValue sum = patch.add({.op = "Gemm",
                                          .name = context.model()[product.matmul].name,
                                          .operands = {rows, product.weights, product.bias}});
    for (const Reshaped& reshaped : product.reshapes) {
      const ir::PatchValue target = patch.add_constant(integer_tensor(reshaped.target));
      patch.replace(result(context.model(), reshaped.node), patch.add({.op = "Reshape", .operands = {sum, target}}));
      patch.remove(reshaped.node);
    }
    patch.remove(product.add);
    patch.remove(product.matmul);
  }
  context.run.rewriter().commit("products of the same rows, as Gemm", patch);
}

size_t use_count(const ir::Model& model, ValueId value) {
  size_t count = 0;
  for (const ir::Use* use = model[value].first_use; use; use = use->next) ++count;
  return count;
}

void fuse(Context& context, ValueId value) {
  const ir::Model& model = context.model();
  if (!model[value].alive) return;
  const ops::Dims* dims = context.inferred.dims(value);
  const std::optional<int64_t> width = dims && dims->size() > 2 ? dims->back().number() : std::nullopt;
  if (!width || *width == 0) return;
  if (tensor::is_integer(context.inferred.dtype(value))) return;  // runtimes have no Gemm of them
  const std::vector<Product> products = find_products(context, value);
  const NodeId made = producer(model, value);
  const bool merges = is_reshape(context.run, made) && model[made].graph == model[value].graph &&
                      use_count(model, value) == products.size();
  if (products.size() + (merges ? 1 : 0) < 2) return;
  commit(context, merges ? operand(model, made, 0) : value, *width, products);
}

void note(Context& context, NodeId node) {
  if (context.run.facts(node).version() < 7) return;
  const ValueId value = operand(context.model(), node, 0);
  if (value && context.known.insert(value).second) context.multiplied.push_back(value);
}

// Again where what was made is multiplied itself; what is new is inferred anew.
void fuse_matmul_rows(PassRun& run) {
  constexpr int kMostRounds = 10;
  for (int round = 0; round < kMostRounds; ++round) {
    const size_t steps = run.rewriter().steps().size();
    Context context{run, Inferred(run), {}, {}};
    apply_rules(run, context, std::array{Rule<Context>{"MatMul", note}});
    for (const ValueId value : context.multiplied) {
      if (!run.rewriter().is_done()) fuse(context, value);
    }
    if (run.rewriter().steps().size() == steps) break;
  }
}

}  // namespace

Pass pass_fuse_matmul_rows() {
  return {.name = "fuse-matmul-rows",
          .summary = "make Gemms of MatMuls and Adds between Reshapes",
          .pass_class = PassClass::rounding,
          .run = fuse_matmul_rows};
}

}  // namespace assay::passes
