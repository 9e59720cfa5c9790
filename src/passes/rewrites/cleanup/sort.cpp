// Before: nodes in any order.
// After:  every node behind those that make its operands, and what its bodies capture. Nodes that stand right already
//         keep their order among each other.
// Only if: no node depends on itself; otherwise an error names the nodes of a cycle.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "ir/topological_sort.h"
#include "ir/verify.h"
#include "passes/pass.h"
#include "passes/walk.h"

namespace assay::passes {
namespace {

[[noreturn]] void refuse_cycle(const ir::Model& model, const std::vector<ir::NodeId>& cycle) {
  constexpr size_t kNamed = 3;
  std::string names;
  for (size_t i = 0; i < std::min(cycle.size(), kNamed); ++i) {
    names += (names.empty() ? "" : ", ") + ir::describe(model, cycle[i]);
  }
  fail(ErrorCode::parse, "the graph has a cycle of {} node(s): {}{}", cycle.size(), names,
       cycle.size() > kNamed ? ", ..." : "");
}

// The first node that stands elsewhere than it should; invalid: none does.
ir::NodeId first_displaced(const ir::Model& model, const ir::GraphOrder& order) {
  size_t place = 0;
  for (const ir::NodeId node : ir::nodes(model, order.graph)) {
    if (order.nodes[place] != node) return order.nodes[place];
    ++place;
  }
  return {};
}

void sort(PassRun& run) {
  const ir::Model& model = run.model();
  ir::TopologicalSort sorter(model);
  for (const ir::GraphId graph : live_graphs(model)) {
    const std::optional<ir::GraphOrder> order = sorter.run(graph);
    if (!order) refuse_cycle(model, sorter.cycle());
    const ir::NodeId first = first_displaced(model, *order);
    if (!first || !run.rewriter().record("sort nodes after what they need, this one first", first)) continue;
    run.edit().order_nodes(*order);
  }
}

}  // namespace

Pass pass_cleanup_sort() {
  return {.name = "sort", .summary = "sort nodes after those that they depend on", .run = sort};
}

}  // namespace assay::passes
