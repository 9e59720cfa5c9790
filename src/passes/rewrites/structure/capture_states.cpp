// Before: a state of a Loop that its body gives on as it is.
// After:  the body, and what comes after the loop, read the state's first value instead.
// Only if: something reads it.
#include "ir/queries.h"
#include "passes/loops.h"
#include "passes/rules.h"

namespace assay::passes {
namespace {

using ir::ValueId;

// Has nodes read another value; outputs of graphs stay, since those of a body are its own.
void read_instead(const ir::Model& model, ValueId value, ValueId other, ir::Patch& patch, bool& is_read) {
  for (const ir::Use& use : ir::uses(model, value)) {
    if (model[use.user].is_outputs) continue;
    patch.set_operand(use.user, use.index, other);
    is_read = true;
  }
}

void capture(PassRun& run, ir::NodeId node) {
  const ir::Model& model = run.model();
  const ir::Attribute* const body = model.find_attribute(model[node], "body");
  if (body == nullptr || body->graphs().size() != 1) return;
  const ir::GraphId graph = body->graphs().front();
  for (uint32_t i = kFirstLoopState; i < model[graph].inputs.size() && !run.rewriter().is_done(); ++i) {
    const ValueId state = model[graph].inputs[i], first = operand(model, node, i);
    const auto outputs = model.outputs(graph);
    const bool is_kept = first && i - 1 < outputs.size() && before_identities(run, outputs[i - 1].value) == state;
    if (!is_kept) continue;
    ir::Patch patch;
    bool is_read = false;
    read_instead(model, state, first, patch, is_read);
    if (const ValueId last = ir::result(model, node, i - kFirstLoopState))
      read_instead(model, last, first, patch, is_read);
    if (is_read) run.rewriter().commit("the state is the same in every iteration", patch);
  }
}

void capture_states(PassRun& run) {
  const auto is_loop = [](const ops::Traits& traits) { return traits.bodies == ops::Bodies::again; };
  apply_rules(run, run, rules_of<PassRun>(is_loop, capture));
}

}  // namespace

Pass pass_structure_capture_states() {
  return {.name = "capture-states",
          .summary = "read states of a loop that never change from outside of it",
          .run = capture_states};
}

}  // namespace assay::passes
