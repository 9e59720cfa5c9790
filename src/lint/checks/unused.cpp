#include <fmt/format.h>

#include "base/text.h"
#include "lint/check.h"

namespace assay::lint {
namespace {

// Nodes of the main graph that an output depends on; a node stands for its bodies.
std::vector<bool> needed_nodes(const ir::Model& model) {
  const ir::GraphId graph = model.main_graph();
  std::vector<bool> needed(model.node_slots());
  std::vector<ir::ValueId> pending;
  for (const ir::Use& use : model.outputs(graph)) pending.push_back(use.value);
  const auto add_operands = [&](const ir::Node& node) {
    for (const ir::Use& use : node.operands) pending.push_back(use.value);
  };
  while (!pending.empty()) {
    const ir::ValueId value = pending.back();
    pending.pop_back();
    if (!value.valid() || !model[value].producer.valid()) continue;
    const ir::NodeId producer = model.ancestor_in(model[value].producer, graph);
    if (!producer.valid() || needed[producer.index]) continue;
    needed[producer.index] = true;
    add_operands(model[producer]);
    std::vector<ir::GraphId> bodies = model.bodies(model[producer]);
    while (!bodies.empty()) {
      const ir::GraphId body = bodies.back();
      bodies.pop_back();
      for (const ir::NodeId id : ir::nodes(model, body)) {
        add_operands(model[id]);
        const std::vector<ir::GraphId> inner = model.bodies(model[id]);
        bodies.insert(bodies.end(), inner.begin(), inner.end());
      }
      add_operands(model[model[body].outputs_node]);
    }
  }
  return needed;
}

bool is_used(const ir::Model& model, ir::ValueId value, const std::vector<bool>& needed) {
  for (const ir::Use& use : ir::uses(model, value)) {
    if (model[use.user].is_outputs && model[use.user].graph == model.main_graph()) return true;
    const ir::NodeId user = model.ancestor_in(use.user, model.main_graph());
    if (user && needed[user.index]) return true;
  }
  return false;
}

void look_at_unused(const Subject& subject, Findings& findings) {
  const ir::Model& model = subject.model;
  if (!subject.is_sound) return;
  const ir::GraphId graph = model.main_graph();
  const std::vector<bool> needed = needed_nodes(model);
  for (const ir::ValueId input : model[graph].inputs) {
    if (is_used(model, input, needed)) continue;
    findings.add(
        LintLevel::warning, kGraph, "unused_input",
        fmt::format("Input: '{}' does not affect outputs, can be removed.", printable(model.text(model[input].name))));
  }
  for (const ir::ValueId value : model[graph].initializers) {
    if (model[value].kind == ir::ValueKind::input || is_used(model, value, needed)) continue;
    findings.add(LintLevel::warning, kGraph, "unused_initializer",
                 fmt::format("Initializer: '{}' does not affect outputs, can be removed.",
                             printable(model.text(model[value].name))));
  }
  for (const ir::NodeId id : ir::nodes(model, graph)) {
    if (needed[id.index]) continue;
    findings.add(LintLevel::warning, kGraph, "unused_node", id, "Does not affect outputs, can be removed.");
  }
}

}  // namespace

Check check_unused() {
  return {"inputs, initializers and nodes that no output depends on", 40, {{.at_model = look_at_unused}}};
}

}  // namespace assay::lint
