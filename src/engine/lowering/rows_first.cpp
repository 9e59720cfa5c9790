#include "engine/lowering/rows_first.h"

#include <array>
#include <vector>

#include "engine/lowering/moves.h"
#include "ir/queries.h"
#include "ops/traits.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "passes/reshapes.h"
#include "passes/rules.h"

namespace assay::engine {
namespace {

struct RowsContext {
  passes::PassRun& run;
  passes::Inferred inferred;
};

// The node that gives other dims to the rows of a product which nothing else reads; invalid: the value is none.
ir::NodeId reshape_of_product(RowsContext& context, ir::ValueId value) {
  const ir::Model& model = context.run.model();
  const ir::NodeId reshape = producer_for_one(model, value);
  if (!reshape.valid() || !passes::is_reshape(context.run, reshape)) return {};
  const ir::ValueId rows = ir::operand(model, reshape, 0);
  const ir::NodeId product = producer_for_one(model, rows);
  if (!product.valid() || ops::traits(model, product).product != ops::ProductKind::matrices) return {};
  const std::optional<tensor::Shape> before = context.inferred.shape(rows), after = context.inferred.shape(value);
  const bool keeps_rows = before && after && !before->empty() && !after->empty() && before->back() == after->back();
  return keeps_rows ? reshape : ir::NodeId();
}

void move(RowsContext& context, ir::NodeId node) {
  const ir::Model& model = context.run.model();
  if (model[node].operands.size() != 2) return;
  const std::array<ir::ValueId, 2> operands = {ir::operand(model, node, 0), ir::operand(model, node, 1)};
  const std::optional<tensor::Shape> dims = context.inferred.shape(operands[0]);
  if (!dims || dims != context.inferred.shape(operands[1]) || operands[0] == operands[1]) return;
  for (const size_t moved : {0U, 1U}) {
    const ir::NodeId reshape = reshape_of_product(context, operands[moved]);
    if (!reshape.valid() || context.run.constant(operands[1 - moved]) != nullptr) continue;
    ir::Patch patch;
    const ir::ValueId product = ir::operand(model, reshape, 0);
    std::vector<ir::PatchValue> rows = {product, product};
    rows[1 - moved] = passes::add_reshape(patch, operands[1 - moved], *context.inferred.shape(product));
    const ir::PatchValue made = add_like(patch, model, node, std::move(rows));
    patch.replace(ir::result(model, node), passes::add_reshape(patch, made, *dims));
    patch.remove(node);
    patch.remove(reshape);
    context.run.rewriter().commit("{0} with rows of a product, before they are given other dims", patch);
    return;
  }
}

}  // namespace

void rows_first(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {
      {{.name = "rows-first",
        .summary = "elementwise operators of products' rows before these are given other dims",
        .pass_class = passes::PassClass::exact,
        .run = [](passes::PassRun& run) {
          RowsContext context{run, passes::Inferred(run)};
          const auto is_elementwise = [](const ops::Traits& traits) { return traits.is(ops::Nature::elementwise); };
          passes::apply_rules(run, context, passes::rules_of<RowsContext>(is_elementwise, move));
        }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
