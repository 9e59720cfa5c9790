// Before: an If whose condition is a constant.
// After:  the nodes and initializers of the branch that it takes, in its place.
// Only if: the branch gives what the If gives.
#include "ir/queries.h"
#include "ops/traits.h"
#include "passes/constants.h"
#include "passes/splice.h"

namespace assay::passes {
namespace {

// The node to go on with.
ir::NodeId flatten(PassRun& run, Splicer& splicer, ir::NodeId node) {
  const ir::NodeId next = run.model()[node].next;
  if (ops::traits(run.model(), node).bodies != ops::Bodies::one_of_two || !run.is_standard(node)) return next;
  const std::optional<int64_t> condition = integer_of(run, operand(run.model(), node, 0));
  const ir::Attribute* branch =
      run.model().find_attribute(run.model()[node], condition.value_or(0) != 0 ? "then_branch" : "else_branch");
  if (!condition || !branch || branch->graphs().size() != 1) return next;
  const Splicer::Job job = {.node = node, .contents = branch->graphs().front(), .takes_operands = false};
  const std::string refusal = splicer.refusal(job);
  if (refusal.empty()) return splicer.splice(job, "the condition is constant");
  run.skip(node, refusal);
  return next;
}

void flatten_if(PassRun& run) {
  Splicer splicer(run);
  std::vector<ir::GraphId> pending = {run.model().main_graph()};
  for (const ir::Function& function : run.model().functions()) pending.push_back(function.body);
  while (!pending.empty() && !run.rewriter().is_done()) {
    const ir::GraphId graph = pending.back();
    pending.pop_back();
    for (ir::NodeId node = run.model()[graph].first; node;) node = flatten(run, splicer, node);
    for (const ir::NodeId node : ir::nodes(run.model(), graph)) {
      const std::vector<ir::GraphId> bodies = run.model().bodies(run.model()[node]);
      pending.insert(pending.end(), bodies.begin(), bodies.end());
    }
  }
}

}  // namespace

Pass pass_structure_flatten_if() {
  return {
      .name = "flatten-if", .summary = "replace an If whose condition is constant by its branch", .run = flatten_if};
}

}  // namespace assay::passes
