#include "passes/elementwise.h"

#include "ir/queries.h"
#include "ops/traits.h"

namespace assay::passes {
bool is_elementwise(std::string_view op) {
  const ops::Traits& traits = ops::traits("", op);
  return traits.is(ops::Nature::elementwise) || traits.is_cast();
}

bool is_elementwise(PassRun& run, ir::NodeId node) {
  const ir::Model& model = run.model();
  if (!node || model[node].is_outputs || has_references(model[node])) return false;
  const std::string_view op = model.text(model[node].op);
  if (!is_elementwise(op) || !run.is_standard(node)) return false;
  return run.facts(node).version() >= 8;  // before, some broadcast along an axis, or not at all
}

}  // namespace assay::passes
