#include "convert/precision/convert_floats.h"

#include "base/error.h"
#include "passes/handing_on.h"
#include "passes/pipelines.h"
#include "schema/imports.h"
#include "schema/schema.h"

namespace assay::convert {
namespace {

void require_cast(int64_t version, const HalfOptions& options) {
  if (version == 0) fail(ErrorCode::unsupported, "the model imports no version of ai.onnx, whose Cast it would need");
  const schema::Schema* cast = passes::cast_schema(version);
  const schema::AttributeSchema* to = cast ? cast->find_attribute("to") : nullptr;
  const bool is_able = to && to->type == ir::AttributeType::integer &&
                       (cast->outputs[0].types.tensors & schema::set_of(options.half)) != 0;
  if (is_able) return;
  fail(ErrorCode::unsupported, "operator set {} has no Cast to {}: it needs a newer one", version,
       tensor::name(options.half));
}

// A plan of the steps that the rewriter has left.
HalfPlan plan_steps(const ir::Model& model, uint64_t steps_left, HalfOptions options, Diagnostics& findings) {
  HalfPlan plan = plan_half(model, options, findings);
  Diagnostics repeated;
  while (keep_behind(steps_left, plan.layers, options.choice)) plan = plan_half(model, options, repeated);
  return plan;
}

// A step for each layer; one for a model that only has inputs, outputs or weights to convert.
void apply_plan(ir::Model& model, ir::Rewriter& rewriter, const HalfOptions& options, const HalfPlan& plan,
                HalfReport& report) {
  const std::vector<ir::NodeId> nodes = converted_nodes(plan.layers);
  report.changed =
      rewriter.apply(nodes.empty() ? "convert inputs and outputs to 16-bit floats" : "compute with 16-bit floats",
                     nodes, [&] { report.edits = apply_half(model, rewriter.edit(), options, plan); });
}

}  // namespace

HalfReport convert_floats(ir::Model& model, ir::Rewriter& rewriter, const HalfOptions& options, Diagnostics& findings) {
  const int64_t version = schema::imported_version(model);
  if (version != 0) require_cast(version, options);
  HalfPlan plan = plan_steps(model, rewriter.steps_left(), options, findings);
  const bool changes = changes_model(model, plan) && !rewriter.is_done();
  if (changes) require_cast(version, options);
  HalfReport report;
  if (changes) apply_plan(model, rewriter, options, plan, report);
  report.layers = std::move(plan.layers);
  report.weights = std::move(plan.weights);
  return report;
}

HalfReport convert_floats(ir::Model& model, const HalfOptions& options, Diagnostics& findings) {
  ir::Rewriter rewriter(model);
  return convert_floats(model, rewriter, options, findings);
}

void convert_to_float16(ir::Model& model, Diagnostics& findings) {
  ir::Rewriter rewriter(model);
  passes::inline_functions(model, rewriter);
  convert_floats(model, rewriter, {}, findings);
}

}  // namespace assay::convert
