#include "engine/lowering/products_first.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "engine/layers/layer.h"
#include "engine/lowering/moves.h"
#include "engine/lowering/row_product.h"
#include "ir/queries.h"
#include "ops/traits.h"
#include "passes/pipelines.h"
#include "passes/reshapes.h"
#include "passes/rules.h"

namespace assay::engine {
namespace {

tensor::Shape matrix_of(const tensor::Shape& dims) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < dims.size(); ++i) rows *= dims[i];
  return {rows, dims.back()};
}

// The product of the source's rows.
bool move_behind(ProductsContext& context, const RowProduct& product, MovedDims dims) {
  const ir::Model& model = context.run.model();
  const ir::ValueId result = ir::result(model, product.last());
  const ir::NodeId user = only_user(model, result);
  if (!dims.keeps_last() || !user.valid() || !is_move(model, user)) return false;
  const tensor::Shape source = *context.inferred.shape(product.source);
  const bool is_matrix = ops::traits(model, product.product).has_bias;
  ir::Patch patch;
  ir::PatchValue rows = product.source;
  if (is_matrix && source.size() != 2) rows = passes::add_reshape(patch, rows, matrix_of(source));
  ir::PatchValue made = add_product(patch, model, product, rows);
  if (is_matrix && source.size() != 2) {
    tensor::Shape dims_made = source;
    dims_made.back() = product.made.back();
    made = passes::add_reshape(patch, made, dims_made);
  }
  dims.set_last(product.made.back());
  patch.replace(result, dims.add(context.run, patch, made));
  remove_product(patch, product, {});
  context.run.rewriter().commit("{0} before its rows are put in another order", patch);
  return true;
}

// The product of rows that are in the order of its result's moves.
void move_before(ProductsContext& context, const RowProduct& product, MovedDims dims) {
  MovedDims made(product.made);
  std::vector<ir::NodeId> moves;
  bool is_known = true;
  const auto takes = [&](ir::NodeId move, const tensor::Shape& shape) {
    MovedDims behind = made;
    if (shape.back() != product.made.back() || !behind.follow(context.run, move, shape) || !behind.keeps_last())
      return false;
    made = std::move(behind);
    tensor::Shape of_operand = shape;
    of_operand.back() = product.rows.back();
    is_known = is_known && dims.follow(context.run, move, of_operand);
    return is_known;
  };
  const ir::Model& model = context.run.model();
  const ir::ValueId result = take_moves(context, ir::result(model, product.last()), moves, takes);
  if (!is_known || made.keeps_order()) return;
  const bool is_matrix = ops::traits(model, product.product).has_bias;
  const tensor::Shape wanted = made.dims();
  if (is_matrix && !dims.reshape(matrix_of(dims.dims()))) return;
  ir::Patch patch;
  ir::PatchValue value = add_product(patch, model, product, dims.add(context.run, patch, product.source));
  if (is_matrix && wanted.size() != 2) value = passes::add_reshape(patch, value, wanted);
  patch.replace(result, value);
  remove_product(patch, product, moves);
  context.run.rewriter().commit("{0} of rows in the order of its result", patch);
}

void move(ProductsContext& context, const RowProduct& product) {
  const std::optional<MovedDims> dims = follow_moves(context.run, context.inferred, product.moves);
  if (!dims || dims->keeps_order()) return;
  if (!move_behind(context, product, *dims)) move_before(context, product, *dims);
}

}  // namespace

void products_first(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {
      {{.name = "products-first",
        .summary = "products of rows before these are put in another order, or of rows in the order of the result",
        .pass_class = passes::PassClass::exact,
        .run = [](passes::PassRun& run) { for_row_products(run, move); }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
