#include "engine/lowering/row_product.h"

#include <algorithm>

#include "engine/layers/layer.h"
#include "engine/lowering/moves.h"
#include "ir/queries.h"
#include "ops/traits.h"
#include "passes/rules.h"

namespace assay::engine {
namespace {

// True for a constant that has one number for each column, or one for all.
bool is_by_column(ProductsContext& context, ir::ValueId value, size_t rank) {
  const tensor::Tensor* const constant = context.run.constant(value);
  if (constant == nullptr || constant->shape().size() > rank) return false;
  const tensor::Shape& shape = constant->shape();
  return shape.empty() || std::all_of(shape.begin(), shape.end() - 1, [](int64_t dim) { return dim == 1; });
}

ir::NodeId follower_of(ProductsContext& context, ir::NodeId product, size_t rank) {
  const ir::Model& model = context.run.model();
  const ir::NodeId user = only_user(model, ir::result(model, product));
  if (!user.valid() || model[user].operands.size() != 2 || !context.run.is_standard(user)) return {};
  if (!ops::traits(model, user).is(ops::Nature::elementwise)) return {};
  const bool is_known = is_by_column(context, ir::operand(model, user, 0), rank) ||
                        is_by_column(context, ir::operand(model, user, 1), rank);
  const bool keeps_dims = context.inferred.is_same_shape(ir::result(model, product), ir::result(model, user));
  return is_known && keeps_dims ? user : ir::NodeId();
}

bool treats_rows_alike(ProductsContext& context, ir::NodeId node) {
  const ir::Model& model = context.run.model();
  const tensor::Tensor* const weights = context.run.constant(ir::operand(model, node, 1));
  if (weights == nullptr || weights->shape().size() != 2) return false;
  if (!ops::traits(model, node).has_bias) return true;
  const ir::ValueId bias = ir::operand(model, node, 2);
  return context.run.facts(node).integer("transA", 0) == 0 && (!bias || is_by_column(context, bias, 2));
}

std::optional<RowProduct> row_product(ProductsContext& context, ir::NodeId node) {
  const ir::Model& model = context.run.model();
  if (!treats_rows_alike(context, node)) return std::nullopt;
  const ir::ValueId operand = ir::operand(model, node, 0);
  const std::vector<ir::NodeId> moves = moved_value(model, operand).moves;
  const auto rows = context.inferred.shape(operand), made = context.inferred.shape(ir::result(model, node));
  if (moves.empty() || !has_elements(rows) || !has_elements(made) || rows->size() != made->size()) return std::nullopt;
  return RowProduct{node,  follower_of(context, node, made->size()), *rows, *made,
                    moves, ir::operand(model, moves.back(), 0)};
}

}  // namespace

void for_row_products(passes::PassRun& run, void (*apply)(ProductsContext& context, const RowProduct& product)) {
  ProductsContext context{run, passes::Inferred(run), {}};
  const auto is_product = [](const ops::Traits& traits) { return traits.product == ops::ProductKind::matrices; };
  const auto keep = [](ProductsContext& to, ir::NodeId node) { to.nodes.push_back(node); };
  passes::apply_rules(run, context, passes::rules_of<ProductsContext>(is_product, keep));
  for (const ir::NodeId node : context.nodes) {
    if (const std::optional<RowProduct> product = row_product(context, node)) apply(context, *product);
  }
}

ir::ValueId take_moves(ProductsContext& context, ir::ValueId value, std::vector<ir::NodeId>& moves,
                       FunctionRef<bool(ir::NodeId move, const tensor::Shape& result)> takes) {
  const ir::Model& model = context.run.model();
  for (;;) {
    const ir::NodeId move = only_user(model, value);
    if (!move.valid() || !is_move(model, move)) return value;
    const auto shape = context.inferred.shape(ir::result(model, move));
    if (!has_elements(shape) || !takes(move, *shape)) return value;
    value = ir::result(model, move);
    moves.push_back(move);
  }
}

ir::PatchValue add_product(ir::Patch& patch, const ir::Model& model, const RowProduct& product, ir::PatchValue rows) {
  const auto of = [&](ir::NodeId node, ir::ValueId old, ir::PatchValue given) {
    std::vector<ir::PatchValue> operands;
    for (const ir::Use& use : model[node].operands) operands.push_back(use.value == old ? given : use.value);
    return add_like(patch, model, node, std::move(operands));
  };
  const ir::PatchValue made = of(product.product, ir::operand(model, product.product, 0), rows);
  return product.follower.valid() ? of(product.follower, ir::result(model, product.product), made) : made;
}

void remove_product(ir::Patch& patch, const RowProduct& product, const std::vector<ir::NodeId>& behind) {
  for (size_t i = behind.size(); i-- > 0;) patch.remove(behind[i]);
  if (product.follower.valid()) patch.remove(product.follower);
  patch.remove(product.product);
  for (const ir::NodeId move : product.moves) patch.remove(move);
}

}  // namespace assay::engine
