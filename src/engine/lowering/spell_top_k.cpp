#include "engine/lowering/spell_top_k.h"

#include <array>
#include <numeric>

#include "ir/queries.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "passes/reshapes.h"
#include "passes/rules.h"

namespace assay::engine {
namespace {

struct Context {
  passes::PassRun& run;
  passes::Inferred inferred;
};

void spell(Context& context, ir::NodeId node) {
  const ir::Model& model = context.run.model();
  const ir::ValueId x = ir::operand(model, node, 0);
  const tensor::DType dtype = context.inferred.dtype(x);
  const ops::Dims* const dims = context.inferred.dims(x);
  if (dims == nullptr || (dtype != tensor::DType::float32 && dtype != tensor::DType::int64)) return;
  const auto rank = static_cast<int64_t>(dims->size());
  const int64_t axis = ops::normalize_axis(context.run.facts(node).integer("axis", -1), rank);
  if (axis == rank - 1) return;
  std::vector<int64_t> order(dims->size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(axis)], order.back());
  ir::Patch patch;
  ir::PatchNode made{.op = "TopK",
                     .name = model[node].name,
                     .operands = {passes::add_transpose(context.run, patch, x, order)},
                     .result_types = {ir::TypeId{}, ir::TypeId{}}};
  for (uint32_t i = 1; i < model[node].operands.size(); ++i) made.operands.push_back(ir::operand(model, node, i));
  for (const ir::Attribute& attribute : model[node].attributes) {
    if (model.text(attribute.name()) != "axis") made.attributes.push_back(attribute);
  }
  const ir::PatchValue best = patch.add(std::move(made));
  for (uint32_t i = 0; i < model[node].results.size(); ++i) {
    const ir::ValueId result = model[node].results[i];
    if (result) patch.replace(result, passes::add_transpose(context.run, patch, patch.result(best, i), order));
  }
  patch.remove(node);
  context.run.rewriter().commit("{0} along the last dim", patch);
}

}  // namespace

void spell_top_k(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {
      {{.name = "spell-top-k",
        .summary = "TopK along other dims than the last as one along the last",
        .pass_class = passes::PassClass::exact,
        .run = [](passes::PassRun& run) {
          Context context{run, passes::Inferred(run)};
          passes::apply_rules(run, context, std::array{passes::Rule<Context>{"TopK", spell}});
        }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
