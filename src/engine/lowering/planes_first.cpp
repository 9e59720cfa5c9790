#include "engine/lowering/planes_first.h"

#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "engine/lowering/moves.h"
#include "engine/lowering/row_product.h"
#include "ir/queries.h"
#include "ops/traits.h"
#include "passes/pipelines.h"
#include "passes/reshapes.h"

namespace assay::engine {
namespace {

int64_t size_of(tensor::Shape::const_iterator begin, tensor::Shape::const_iterator end) {
  return std::accumulate(begin, end, int64_t{1}, std::multiplies());
}

// The follower of the product, with its constants by plane.
ir::PatchValue add_follower(ir::Patch& patch, ir::PatchValue made, const ir::Model& model, const RowProduct& product) {
  if (!product.follower.valid()) return made;
  std::vector<ir::PatchValue> operands;
  for (const ir::Use& use : model[product.follower].operands) {
    const bool is_product = use.value == ir::result(model, product.product);
    operands.push_back(is_product ? made : passes::add_reshape(patch, use.value, {-1, 1}));
  }
  return add_like(patch, model, product.follower, std::move(operands));
}

void turn(ProductsContext& context, const RowProduct& product) {
  constexpr int64_t kMostColumns = 16, kLeastPlane = 256;
  const ir::Model& model = context.run.model();
  const int64_t depth = product.rows.back(), columns = product.made.back();
  if (ops::traits(model, product.product).has_bias || depth > kMostColumns || columns > kMostColumns) return;
  std::optional<MovedDims> dims = follow_moves(context.run, context.inferred, product.moves);
  if (!dims || !dims->last_axis() || dims->keeps_last()) return;
  const tensor::Shape source = *context.inferred.shape(product.source);
  const auto place = source.begin() + static_cast<ptrdiff_t>(dims->last_axis().value_or(0));
  const int64_t items = size_of(source.begin(), place), plane = size_of(place + 1, source.end());
  if (plane < kLeastPlane) return;
  dims->set_last(columns);
  std::vector<ir::NodeId> moves;
  const ir::ValueId result =
      take_moves(context, ir::result(model, product.last()), moves, [&](ir::NodeId move, const tensor::Shape& shape) {
        return !dims->keeps_order() && dims->follow(context.run, move, shape);
      });
  if (!dims->keeps_order()) return;
  ir::Patch patch;
  const ir::PatchValue matrix =
      passes::add_transpose(context.run, patch, ir::operand(model, product.product, 1), {1, 0});
  const ir::PatchValue planes = passes::add_reshape(patch, product.source, {items, depth, plane});
  const ir::PatchValue made = add_like(patch, model, product.product, {matrix, planes});
  patch.replace(result, passes::add_reshape(patch, add_follower(patch, made, model, product), dims->dims()));
  remove_product(patch, product, moves);
  context.run.rewriter().commit("{0} of planes as they lie", patch);
}

}  // namespace

uint64_t planes_first(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {{{.name = "planes-first",
                                              .summary = "products by small matrices of planes as they lie",
                                              .pass_class = passes::PassClass::rounding,
                                              .run = [](passes::PassRun& run) { for_row_products(run, turn); }}}};
  return passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
