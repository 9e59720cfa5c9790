// Before: a state of a Loop that its body gives on as it is.
// After:  the body, and what comes after the loop, read the state's first value instead.
// Only if: something reads it.
#include "ir/queries.h"
#include "passes/pass.h"

namespace assay::passes {
namespace {

using ir::ValueId;

constexpr uint32_t kFirstState = 2;  // operands and inputs of the body before it: count or number, condition

ValueId origin_of_state(PassRun& run, ValueId value) {
  for (ir::NodeId node = producer(run.model(), value); node && run.is_op(node, "Identity");
       node = producer(run.model(), value)) {
    value = operand(run.model(), node, 0);
  }
  return value;
}

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
  const ir::Attribute* const body = run.is_op(node, "Loop") ? model.find_attribute(model[node], "body") : nullptr;
  if (body == nullptr || body->graphs().size() != 1) return;
  const ir::GraphId graph = body->graphs().front();
  for (uint32_t i = kFirstState; i < model[graph].inputs.size() && !run.rewriter().is_done(); ++i) {
    const ValueId state = model[graph].inputs[i], first = operand(model, node, i);
    const auto outputs = model.outputs(graph);
    const bool is_kept = first && i - 1 < outputs.size() && origin_of_state(run, outputs[i - 1].value) == state;
    if (!is_kept) continue;
    ir::Patch patch;
    bool is_read = false;
    read_instead(model, state, first, patch, is_read);
    if (const ValueId last = ir::result(model, node, i - kFirstState)) read_instead(model, last, first, patch, is_read);
    if (is_read) run.rewriter().commit("the state is the same in every iteration", patch);
  }
}

void capture_states(PassRun& run) {
  std::vector<ir::GraphId> pending = {run.model().main_graph()};
  for (const ir::Function& function : run.model().functions()) pending.push_back(function.body);
  while (!pending.empty() && !run.rewriter().is_done()) {
    const ir::GraphId graph = pending.back();
    pending.pop_back();
    for (const ir::NodeId node : ir::nodes(run.model(), graph)) {
      capture(run, node);
      const std::vector<ir::GraphId> bodies = run.model().bodies(run.model()[node]);
      pending.insert(pending.end(), bodies.begin(), bodies.end());
    }
  }
}

}  // namespace

Pass pass_structure_capture_states() {
  return {.name = "capture-states",
          .summary = "read states of a loop that never change from outside of it",
          .run = capture_states};
}

}  // namespace assay::passes
