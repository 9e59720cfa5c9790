// Before: nodes, initializers and bodies' values whose results nothing uses.
// After:  the graph without them; graph inputs stay, they are the model's interface.
// Only if: no result of the node is used, in its own graph or by a body below it.
#include <vector>

#include "ir/walk.h"
#include "passes/pass.h"

namespace assay::passes {
namespace {

bool is_dead(const ir::Model& model, ir::NodeId node) {
  for (const ir::ValueId result : model[node].results) {
    if (result && model[result].first_use) return false;
  }
  return true;
}

// From the last node to the first, so that what only dead nodes use is dead when it is looked at.
void remove_nodes(PassRun& run, ir::GraphId graph) {
  const ir::Model& model = run.model();
  for (ir::NodeId node = model[graph].last; node;) {
    const ir::NodeId previous = model[node].previous;
    if (is_dead(model, node)) {
      ir::Patch patch;
      patch.remove(node);
      if (!run.rewriter().commit("nothing uses it", patch)) return;
    }
    node = previous;
  }
}

void remove_initializers(PassRun& run) {
  const ir::Model& model = run.model();
  ir::Patch patch;
  bool is_empty = true;
  for (const ir::ValueId id : ir::live_values(model)) {
    const ir::Value& value = model[id];
    if (value.kind != ir::ValueKind::initializer || value.first_use) continue;
    patch.remove(id);
    is_empty = false;
  }
  if (!is_empty) run.rewriter().commit("nothing uses them", patch);
}

// Bodies come first: what only they used is dead when their outer graph is looked at.
void remove_dead(PassRun& run) {
  const std::vector<ir::GraphId> graphs = live_graphs(run.model());
  for (size_t i = graphs.size(); i-- > 0;) remove_nodes(run, graphs[i]);
  remove_initializers(run);
}

}  // namespace

Pass pass_cleanup_remove_dead() {
  return {.name = "remove-dead", .summary = "remove nodes and initializers that nothing uses", .run = remove_dead};
}

}  // namespace assay::passes
