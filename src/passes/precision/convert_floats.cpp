#include "passes/precision/convert_floats.h"

#include "base/error.h"
#include "schema/schema.h"

namespace assay::passes {
namespace {

// Of ai.onnx; 0 where the model imports none.
int64_t operator_set(const ir::Model& model) {
  int64_t version = 0;
  for (const ir::OpsetImport& import : model.header().opset_imports) {
    if (schema::canonical_domain(model.text(import.domain)).empty()) version = import.version;
  }
  return version;
}

void require_cast(int64_t version, const HalfOptions& options) {
  if (version == 0) fail(ErrorCode::unsupported, "the model imports no version of ai.onnx, whose Cast it would need");
  const schema::Schema* cast = schema::find_schema("", "Cast", version);
  const schema::AttributeSchema* to = cast ? cast->find_attribute("to") : nullptr;
  const bool is_able = to && to->type == ir::AttributeType::integer &&
                       (cast->outputs[0].types.tensors & schema::set_of(options.half)) != 0;
  if (is_able) return;
  fail(ErrorCode::unsupported, "operator set {} has no Cast to {}: it needs a newer one", version,
       tensor::name(options.half));
}

}  // namespace

HalfReport convert_floats(ir::Model& model, ir::Rewriter& rewriter, const HalfOptions& options, Diagnostics& findings) {
  const int64_t version = operator_set(model);
  if (version != 0) require_cast(version, options);
  HalfPlan plan = plan_half(model, options, findings);
  const bool changes = changes_model(model, plan);
  if (changes) require_cast(version, options);
  HalfReport report;
  report.layers = std::move(plan.layers);
  if (changes && rewriter.record("convert float32 to 16 bits")) {
    report.changed = true;
    report.edits = apply_half(model, rewriter.edit(), options, plan);
  }
  report.weights = std::move(plan.weights);
  return report;
}

HalfReport convert_floats(ir::Model& model, const HalfOptions& options, Diagnostics& findings) {
  ir::Rewriter rewriter(model);
  return convert_floats(model, rewriter, options, findings);
}

}  // namespace assay::passes
