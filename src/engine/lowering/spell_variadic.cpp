#include "engine/lowering/spell_variadic.h"

#include <array>

#include "ir/queries.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "passes/rules.h"
#include "schema/imports.h"

namespace assay::engine {
namespace {

struct VariadicContext {
  passes::PassRun& run;
  passes::Inferred inferred;
};

void spell_variadic_node(VariadicContext& context, ir::NodeId node) {
  constexpr int64_t kFirstBroadcasting = 8;
  const ir::Model& model = context.run.model();
  if (schema::imported_version(model) < kFirstBroadcasting) return;
  const std::string_view op = model.text(model[node].op);
  const bool is_choice = op == "Max" || op == "Min";
  const size_t count = model[node].operands.size();
  const tensor::DType dtype = context.inferred.dtype(ir::result(model, node));
  if (count < (is_choice ? 3 : 2) || dtype != tensor::DType::float32) return;
  ir::Patch patch;
  ir::PatchValue made = ir::operand(model, node, 0);
  for (uint32_t i = 1; i < count; ++i)
    made = patch.add({.op = is_choice ? op : "Add", .operands = {made, ir::operand(model, node, i)}});
  if (op == "Mean") {
    const ir::PatchValue number =
        patch.add_constant(tensor::make_tensor<float>(dtype, {}, std::array{static_cast<float>(count)}));
    made = patch.add({.op = "Div", .operands = {made, number}});
  }
  patch.replace(ir::result(model, node), made);
  patch.remove(node);
  context.run.rewriter().commit("{0} as operators of two operands", patch);
}

}  // namespace

void spell_variadic(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {
      {{.name = "spell-variadic",
        .summary = "sums and choices of many operands as those of two",
        .pass_class = passes::PassClass::rounding,
        .run = [](passes::PassRun& run) {
          using Rule = passes::Rule<VariadicContext>;
          VariadicContext context{run, passes::Inferred(run)};
          passes::apply_rules(run, context,
                              std::array{Rule{"Sum", spell_variadic_node}, Rule{"Mean", spell_variadic_node},
                                         Rule{"Max", spell_variadic_node}, Rule{"Min", spell_variadic_node}});
        }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
