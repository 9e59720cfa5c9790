#include "engine/lowering/join_products.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <ranges>
#include <set>

#include "engine/layers/elementwise.h"
#include "engine/layers/layer.h"
#include "engine/lowering/join_norms.h"
#include "ir/queries.h"
#include "ops/operator.h"
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
constexpr size_t kOperands = 3;  // queries, keys and values

// A constant operand, and its dim along which columns of the product lie.
struct ColumnPart {
  uint32_t operand = 0;
  size_t axis = 0;
  const Tensor* tensor = nullptr;
};
struct ProductStep {
  NodeId node;
  std::vector<ColumnPart> parts;
};

// A product by a constant matrix: perhaps a DequantizeLinear of its codes, MatMul, Gemm or MatMulNBits, perhaps an Add
// of one row, and a Cast.
struct KnownProduct {
  NodeId node;
  ValueId data;
  std::vector<ProductStep> steps;
  int64_t columns = 0;
  ValueId result;
  NodeId attention;  // whose operand of that number it is; invalid: it becomes heads
  uint32_t place = 0;
  bool is_gate = false;  // elementwise operators use it, perhaps with another one
};

// The bytes that lie together in a tensor of which others are put beside it along a dim.
uint64_t piece_bits(const Tensor& part, size_t axis) {
  uint64_t bits = tensor::bit_width(part.dtype());
  for (size_t i = axis; i < part.shape().size(); ++i) bits *= static_cast<uint64_t>(part.shape()[i]);
  return bits;
}

// Tensors side by side along a dim; others are the same.
Tensor side_by_side(const std::vector<const Tensor*>& parts, size_t axis) {
  tensor::Shape dims = parts[0]->shape();
  dims[axis] = 0;
  size_t row = 0;
  std::vector<Tensor> kept;
  for (const Tensor* const part : parts) {
    dims[axis] += part->shape()[axis];
    row += piece_bits(*part, axis) / 8;
    kept.push_back(*part);
  }
  size_t rows = 1;
  for (size_t i = 0; i < axis; ++i) rows *= static_cast<size_t>(dims[i]);
  const auto fill = [kept = std::move(kept), rows, row, axis](std::span<std::byte> bytes) {
    size_t first = 0;
    for (const Tensor& part : kept) {
      const size_t size = piece_bits(part, axis) / 8;
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
  explicit ProductJoiner(passes::PassRun& run)
      : run_(run), rules_(run.options().get<LoweringRules>()), inferred_(run) {}

  void run() {
    // Groups of products alike, in the order in which their nodes stand.
    std::map<ValueId, std::vector<std::vector<KnownProduct>>> groups;
    for (const NodeId node : ir::nodes(model(), model().main_graph())) {
      std::optional<KnownProduct> found = find_product(node);
      if (!found) continue;
      std::vector<std::vector<KnownProduct>>& same = groups[found->data];
      const auto group = std::ranges::find_if(same, [&](const auto& other) { return are_alike(other[0], *found); });
      if (group == same.end())
        same.push_back({*std::move(found)});
      else
        group->push_back(*std::move(found));
    }
    for (auto& [data, same] : groups) {
      for (std::vector<KnownProduct>& products : same) {
        std::ranges::stable_sort(products, {}, &KnownProduct::place);
        const bool is_whole = products.size() == kOperands || (products.size() > 1 && !products[0].attention);
        if (products[0].is_gate ? are_gates(products) : is_whole) join(products);
      }
    }
  }

 private:
  const ir::Model& model() const { return run_.model(); }
  bool is_microsoft(NodeId node, std::string_view op) const {
    return model().text(model()[node].domain) == ops::kMicrosoft && model().text(model()[node].op) == op;
  }

  std::optional<KnownProduct> find_product(NodeId node) {
    const bool is_gemm = run_.is_op(node, "Gemm");
    const bool has_codes = is_microsoft(node, "MatMulNBits");
    if (!is_gemm && !has_codes && !run_.is_op(node, "MatMul")) return std::nullopt;
    if (!ir::result(model(), node)) return std::nullopt;
    const std::optional<tensor::Shape> shape = inferred_.shape(ir::result(model(), node));
    if (!shape || shape->empty()) return std::nullopt;
    KnownProduct product{node, ir::operand(model(), node, 0), {}, shape->back(), ir::result(model(), node)};
    ProductStep step{node, {}};
    const bool is_known = has_codes ? add_packed_codes(step, product)
                                    : add_weights(step, product) && (!is_gemm || add_gemm_bias(step, product));
    if (!is_known) return std::nullopt;
    product.steps.push_back(std::move(step));
    add_bias(product);
    add_cast(product);
    if (becomes_heads(product.result) || is_of_attention(product)) return product;
    product.is_gate = product.result == ir::result(model(), node) && !has_bias(node) &&
                      has_fused_rows(model(), run_.inference(), rules_, node) && !users(product).empty();
    return product.is_gate ? std::optional(std::move(product)) : std::nullopt;
  }

  // Adds a constant operand that has the product's columns along a dim, perhaps several elements for each.
  bool add_part(ProductStep& step, uint32_t index, size_t axis, int64_t columns) {
    const Tensor* const tensor = run_.constant(ir::operand(model(), step.node, index));
    if (tensor == nullptr || axis >= tensor->shape().size() || tensor->count() == 0) return false;
    if (columns == 0 || tensor->shape()[axis] % columns != 0 || piece_bits(*tensor, axis) % 8 != 0) return false;
    step.parts.push_back({index, axis, tensor});
    return true;
  }
  // Likewise with one element for each column.
  bool add_columns(ProductStep& step, uint32_t index, size_t rank, size_t axis, int64_t columns) {
    const Tensor* const tensor = run_.constant(ir::operand(model(), step.node, index));
    const bool fits = tensor != nullptr && tensor->shape().size() == rank && tensor->shape()[axis] == columns;
    return fits && add_part(step, index, axis, columns);
  }

  // Weights of a MatMul or Gemm, or the codes that they come from.
  bool add_weights(ProductStep& step, KnownProduct& product) {
    const bool is_turned = run_.is_op(step.node, "Gemm") && run_.facts(step.node).flag("transB");
    const size_t axis = is_turned ? 0 : 1;
    if (add_columns(step, 1, 2, axis, product.columns)) return true;
    ProductStep codes{ir::producer(model(), ir::operand(model(), step.node, 1)), {}};
    if (!codes.node || !run_.is_op(codes.node, "DequantizeLinear")) return false;
    const Tensor* const scales = run_.constant(ir::operand(model(), codes.node, 1));
    const bool is_own = only_user(model(), ir::result(model(), codes.node)) == step.node;
    if (!is_own || scales == nullptr || !add_columns(codes, 0, 2, axis, product.columns)) return false;
    const size_t rank = scales->shape().size();  // one scale for each column, or for each block of rows, too
    const int64_t scaled = ops::normalize_axis(run_.facts(codes.node).integer("axis", 1), 2);
    if (rank == 0 || (rank == 1 && scaled != static_cast<int64_t>(axis))) return false;
    for (const uint32_t index : {1U, 2U}) {
      if (index == 2 && !ir::operand(model(), codes.node, index)) continue;
      if (!add_columns(codes, index, rank, rank == 1 ? 0 : axis, product.columns)) return false;
    }
    product.steps.push_back(std::move(codes));
    return true;
  }
  bool add_gemm_bias(ProductStep& step, const KnownProduct& product) {
    constexpr uint32_t kBias = 2;
    const ValueId bias = ir::operand(model(), step.node, kBias);
    if (!bias) return true;
    const Tensor* const tensor = run_.constant(bias);
    const size_t rank = tensor == nullptr ? 0 : tensor->shape().size();
    return rank > 0 && add_columns(step, kBias, rank, rank - 1, product.columns);
  }
  // Codes, scales, zero points and the bias of MatMulNBits, all of which begin with the columns.
  bool add_packed_codes(ProductStep& step, const KnownProduct& product) {
    constexpr uint32_t kOrder = 4, kAll = 6;
    if (ir::operand(model(), step.node, kOrder)) return false;
    for (uint32_t index = 1; index < kAll; ++index) {
      if (ir::operand(model(), step.node, index) && !add_part(step, index, 0, product.columns)) return false;
    }
    return true;
  }
  // The row that an Add adds to the result.
  void add_bias(KnownProduct& product) {
    const NodeId user = only_user(model(), product.result);
    if (!user || !run_.is_op(user, "Add")) return;
    ProductStep step{user, {}};
    const uint32_t index = ir::operand(model(), user, 0) == product.result ? 1 : 0;
    if (!add_columns(step, index, 1, 0, product.columns)) return;
    step.parts[0].operand = 1;  // in whichever order they are
    product.result = ir::result(model(), user);
    product.steps.push_back(std::move(step));
  }

  void add_cast(KnownProduct& product) {
    const NodeId user = only_user(model(), product.result);
    if (!user || !run_.is_op(user, "Cast")) return;
    product.result = ir::result(model(), user);
    product.steps.push_back({user, {}});
  }

  // True if all users of a value are a Reshape that divides its last dim, of which parts of longer rows are a view.
  bool becomes_heads(ValueId value) {
    const NodeId user = only_user(model(), value);
    if (!user.valid() || !run_.is_op(user, "Reshape") || ir::operand(model(), user, 0) != value) return false;
    const std::optional<tensor::Shape> from = inferred_.shape(value);
    const std::optional<tensor::Shape> to = inferred_.shape(ir::result(model(), user));
    if (!from || !to || to->size() <= from->size()) return false;
    TensorDesc part = make_desc(tensor::DType::float32, *from);
    for (size_t i = 0; i + 1 < from->size(); ++i) part.strides[i] *= 2;
    return find_reshaped(part, *to).has_value();
  }

  // True if only a GroupQueryAttention uses a result, as queries, keys or values. It reads all side by side as well.
  bool is_of_attention(KnownProduct& product) {
    const NodeId user = only_user(model(), product.result);
    if (!user || !is_microsoft(user, "GroupQueryAttention")) return false;
    product.attention = user;
    while (ir::operand(model(), user, product.place) != product.result) ++product.place;
    return product.place < kOperands;
  }

  bool has_bias(NodeId product) const {
    constexpr uint32_t kBiasOfCodes = 5;
    return ir::operand(model(), product, is_microsoft(product, "MatMulNBits") ? kBiasOfCodes : 2).valid();
  }
  // Elementwise nodes behind a product as far as a few steps go; empty: others use it, too.
  std::set<NodeId> users(const KnownProduct& product) {
    constexpr int kSteps = 4;
    std::set<NodeId> found;
    std::vector<ValueId> values = {product.result};
    for (int step = 0; step < kSteps; ++step) {
      std::vector<ValueId> next;
      for (const ValueId value : values) {
        for (const ir::Use& use : ir::uses(model(), value)) {
          const bool is_simple = !model()[use.user].is_outputs && is_elementwise(run_.inference(), model(), use.user);
          if (!is_simple && step == 0) return {};
          if (is_simple && found.insert(use.user).second) next.push_back(ir::result(model(), use.user));
        }
      }
      values = std::move(next);
    }
    return found;
  }
  // True if both meet in what follows them.
  bool are_gates(const std::vector<KnownProduct>& products) {
    if (products.size() != 2 || products[0].columns != products[1].columns) return false;
    const std::set<NodeId> of_first = users(products[0]);
    return std::ranges::any_of(users(products[1]), [&](NodeId node) { return of_first.contains(node); });
  }

  // True if two products of one value differ in numbers and columns only.
  bool are_alike(const KnownProduct& a, const KnownProduct& b) const {
    return a.attention == b.attention && a.is_gate == b.is_gate &&
           std::ranges::equal(a.steps, b.steps, [&](const ProductStep& left, const ProductStep& right) {
             const ir::Node& node = model()[left.node];
             const ir::Node& other = model()[right.node];
             return node.op == other.op && node.domain == other.domain && have_same_form(left, right) &&
                    std::ranges::equal(node.attributes, other.attributes, [&](const auto& one, const auto& two) {
                      return one == two || (one.name() == two.name() && counts_columns(one));
                    });
           });
  }
  static bool have_same_form(const ProductStep& left, const ProductStep& right) {
    return std::ranges::equal(left.parts, right.parts, [](const ColumnPart& a, const ColumnPart& b) {
      tensor::Shape dims = a.tensor->shape();
      if (a.operand != b.operand || a.axis != b.axis || dims.size() != b.tensor->shape().size()) return false;
      dims[a.axis] = b.tensor->shape()[a.axis];
      return dims == b.tensor->shape() && a.tensor->dtype() == b.tensor->dtype();
    });
  }
  bool counts_columns(const ir::Attribute& attribute) const { return model().text(attribute.name()) == "N"; }

  void join(const std::vector<KnownProduct>& products) {
    ir::Patch patch;
    PatchValue joined;
    for (size_t step = 0; step < products[0].steps.size(); ++step) joined = add_step(patch, products, step, joined);
    if (products[0].attention)
      pack(patch, products[0].attention, joined);
    else
      split(patch, products, joined);
    for (const KnownProduct& product : products) {
      for (const ProductStep& step : std::views::reverse(product.steps)) patch.remove(step.node);
    }
    const auto is_earlier = [&](const KnownProduct& a, const KnownProduct& b) {
      return model().is_before(a.node, b.node);
    };
    patch.insert_before(std::ranges::min_element(products, is_earlier)->node);
    run_.rewriter().commit("{0} and its like as one product", patch);
  }

  static void pack(ir::Patch& patch, NodeId attention, PatchValue joined) {
    patch.set_operand(attention, 0, joined);
    for (uint32_t place = 1; place < kOperands; ++place) patch.set_operand(attention, place, {});
  }
  void split(ir::Patch& patch, const std::vector<KnownProduct>& products, PatchValue joined) {
    std::vector<int64_t> columns;
    for (const KnownProduct& product : products) columns.push_back(product.columns);
    const PatchValue parts = patch.add({.op = "Split",
                                        .operands = {joined, patch.add_constant(passes::integer_tensor(columns))},
                                        .attributes = {ir::Attribute::of(run_.edit().intern("axis"), int64_t{-1})},
                                        .result_types = std::vector<ir::TypeId>(products.size())});
    for (size_t i = 0; i < products.size(); ++i) {
      patch.replace(products[i].result, patch.result(parts, static_cast<uint32_t>(i)));
    }
  }

  // Adds one step of all products, behind the one before.
  PatchValue add_step(ir::Patch& patch, const std::vector<KnownProduct>& products, size_t step, PatchValue before) {
    const ProductStep& first = products[0].steps[step];
    const ir::Node& node = model()[first.node];
    std::vector<PatchValue> operands;
    for (const ir::Use& use : node.operands) {
      operands.push_back(use.value == products[0].data || !use.value ? PatchValue(use.value) : before);
    }
    for (size_t i = 0; i < first.parts.size(); ++i) {
      std::vector<const Tensor*> tensors;
      for (const KnownProduct& product : products) tensors.push_back(product.steps[step].parts[i].tensor);
      operands[first.parts[i].operand] = patch.add_constant(side_by_side(tensors, first.parts[i].axis));
    }
    std::vector<ir::Attribute> attributes(node.attributes.begin(), node.attributes.end());
    for (ir::Attribute& attribute : attributes) {
      if (counts_columns(attribute)) attribute = ir::Attribute::of(attribute.name(), total_columns(products));
    }
    return patch.add({.op = model().text(node.op),
                      .domain = model().text(node.domain),
                      .name = node.name,
                      .operands = std::move(operands),
                      .attributes = std::move(attributes)});
  }
  static int64_t total_columns(const std::vector<KnownProduct>& products) {
    int64_t total = 0;
    for (const KnownProduct& product : products) total += product.columns;
    return total;
  }

  passes::PassRun& run_;
  const LoweringRules& rules_;
  passes::Inferred inferred_;
};

}  // namespace

void join_products(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules) {
  if (schema::imported_version(model) < kFirstSplitOfOperands) return;
  const std::array<passes::Pass, 1> pass = {{{.name = "join-products",
                                              .summary = "one product for queries, keys and values",
                                              .pass_class = passes::PassClass::exact,
                                              .run = [](passes::PassRun& run) { ProductJoiner(run).run(); }}}};
  passes::Options options;
  options.of<LoweringRules>() = rules;
  passes::Pipeline(model, rewriter, options).run(pass);
}

}  // namespace assay::engine
