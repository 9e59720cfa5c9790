// Before: a Loop of a known number of iterations, or a Scan over known lengths.
// After:  its body as often, one behind the other; what each iteration gives to a scan output is put together by a
//         Concat.
// Only if: nothing but the number of iterations ends the loop; there is at least one iteration, not more than are
//         allowed, and the nodes that are made stay within a limit.
#include <array>

#include <fmt/format.h>

#include "ir/queries.h"
#include "ops/traits.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/loops.h"
#include "passes/unroll/unroll_options.h"
#include "passes/unroll/unroller.h"

namespace assay::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

bool is_always_true(PassRun& run, ValueId value) {
  return integer_of(run, before_identities(run, value)).value_or(0) != 0;
}

class Unrolling {
 public:
  explicit Unrolling(PassRun& run)
      : run_(run), inferred_(run), nodes_left_(run.options().get<UnrollOptions>().most_nodes) {}

  // The node to go on with.
  NodeId visit(NodeId node) {
    const NodeId next = run_.model()[node].next;
    const auto found = attempt([&] { return plan_of(node); });
    if (const Error* error = std::get_if<Error>(&found)) run_.skip(node, error->line());
    const std::optional<UnrollPlan>* plan = std::get_if<std::optional<UnrollPlan>>(&found);
    return plan && *plan && is_allowed(**plan) ? unroll(run_, **plan) : next;
  }

 private:
  std::optional<UnrollPlan> plan_of(NodeId node) {
    if (has_references(run_.model()[node])) return std::nullopt;
    const ops::Bodies bodies = ops::traits(run_.model(), node).bodies;
    if (bodies == ops::Bodies::none || !run_.is_standard(node)) return std::nullopt;
    if (bodies == ops::Bodies::again) return plan_loop(node);
    return bodies == ops::Bodies::along_axes ? plan_scan(node) : std::nullopt;
  }
  std::optional<UnrollPlan> plan_loop(NodeId node);
  std::optional<UnrollPlan> plan_scan(NodeId node);
  std::optional<int64_t> scan_length(NodeId node, const UnrollPlan& plan);
  bool is_allowed(const UnrollPlan& plan);

  PassRun& run_;
  Inferred inferred_;
  uint64_t nodes_left_;
};

bool Unrolling::is_allowed(const UnrollPlan& plan) {
  const UnrollOptions& limits = run_.options().get<UnrollOptions>();
  const auto count = static_cast<uint64_t>(std::max<int64_t>(plan.iterations, 0));
  const uint64_t nodes = count <= limits.most_iterations ? count * nodes_made(run_.model(), plan) : 0;
  std::string refusal = unroll_refusal(run_.model(), plan);
  if (count == 0) refusal = "it has no iterations";
  if (count > limits.most_iterations) {
    refusal = fmt::format("it has {} iterations, the limit is {}", count, limits.most_iterations);
  }
  if (nodes > nodes_left_) {
    refusal = fmt::format("unrolling would make {} nodes, {} of {} are left", nodes, nodes_left_, limits.most_nodes);
  }
  if (!refusal.empty()) run_.skip(plan.node, refusal);
  if (refusal.empty()) nodes_left_ -= nodes;
  return refusal.empty();
}

std::optional<UnrollPlan> Unrolling::plan_loop(NodeId node) {
  const ir::Model& model = run_.model();
  const std::optional<int64_t> count = integer_of(run_, operand(model, node, 0));
  const ir::Attribute* body = model.find_attribute(model[node], "body");
  if (!count || !body || body->graphs().size() != 1) return std::nullopt;
  UnrollPlan plan = {.node = node, .body = body->graphs()[0], .iterations = *count};
  if (model[plan.body].inputs.size() < kFirstLoopState || model.outputs(plan.body).empty()) return std::nullopt;
  plan.number = model[plan.body].inputs[0];
  plan.condition = model[plan.body].inputs[1];
  plan.first_state_operand = plan.first_state_input = kFirstLoopState;
  plan.first_state_output = 1;
  plan.states = static_cast<uint32_t>(model[plan.body].inputs.size()) - kFirstLoopState;
  const ValueId start = operand(model, node, 1);
  const ValueId next = before_identities(run_, model.outputs(plan.body)[0].value);
  const bool starts = !start || is_always_true(run_, start);
  const bool goes_on = next && (next == plan.condition || (start && next == start) || is_always_true(run_, next));
  return starts && goes_on ? std::optional(plan) : std::nullopt;
}

// The length of all scan inputs, if that of one is known; that they are equal is the operator's rule.
std::optional<int64_t> Unrolling::scan_length(NodeId node, const UnrollPlan& plan) {
  for (uint32_t i = 0; i < plan.slices.size(); ++i) {
    const ValueId value = operand(run_.model(), node, plan.states + i);
    const ops::Dims* dims = value ? inferred_.dims(value) : nullptr;
    if (!dims) continue;
    const auto rank = static_cast<int64_t>(dims->size());
    const int64_t axis = plan.slices[i].axis < 0 ? plan.slices[i].axis + rank : plan.slices[i].axis;
    if (axis < 0 || axis >= rank) return std::nullopt;
    if (const std::optional<int64_t> number = (*dims)[static_cast<size_t>(axis)].number()) return number;
  }
  return std::nullopt;
}

std::vector<UnrollAxis> axes_of(const ops::Node& node, std::string_view side, size_t count) {
  const std::vector<int64_t> axes = node.integers(fmt::format("scan_{}_axes", side));
  const std::vector<int64_t> directions = node.integers(fmt::format("scan_{}_directions", side));
  std::vector<UnrollAxis> found(count);
  for (size_t i = 0; i < count; ++i) {
    if (i < axes.size()) found[i].axis = axes[i];
    if (i < directions.size()) found[i].is_reverse = directions[i] != 0;
  }
  return found;
}

std::optional<UnrollPlan> Unrolling::plan_scan(NodeId node) {
  constexpr int64_t kWithoutBatch = 9;
  const ir::Model& model = run_.model();
  const ops::Node facts = run_.facts(node);
  const auto slices = static_cast<uint64_t>(facts.integer("num_scan_inputs", 0));
  const size_t operands = model[node].operands.size();
  const ir::Attribute* body = model.find_attribute(model[node], "body");
  const bool is_sound = body && body->graphs().size() == 1 && slices >= 1 && slices <= operands;
  if (!is_sound || facts.version() < kWithoutBatch) return std::nullopt;
  UnrollPlan plan = {.node = node, .body = body->graphs()[0]};
  plan.states = static_cast<uint32_t>(operands - slices);
  if (model.outputs(plan.body).size() < plan.states) return std::nullopt;
  plan.slices = axes_of(facts, "input", slices);
  plan.gathered = axes_of(facts, "output", model.outputs(plan.body).size() - plan.states);
  const std::optional<int64_t> length = scan_length(node, plan);
  plan.iterations = length.value_or(0);
  return length ? std::optional(plan) : std::nullopt;
}

void unroll_loops(PassRun& run) {
  Unrolling unrolling(run);
  std::vector<ir::GraphId> pending = {run.model().main_graph()};
  for (const ir::Function& function : run.model().functions()) pending.push_back(function.body);
  while (!pending.empty()) {
    const ir::GraphId graph = pending.back();
    pending.pop_back();
    for (NodeId node = run.model()[graph].first; node && !run.rewriter().is_done();) node = unrolling.visit(node);
    for (const NodeId node : ir::nodes(run.model(), graph)) {
      const std::vector<ir::GraphId> bodies = run.model().bodies(run.model()[node]);
      pending.insert(pending.end(), bodies.begin(), bodies.end());
    }
  }
}

}  // namespace

Pass pass_structure_unroll_loops() {
  return {
      .name = "unroll-loops", .summary = "replace loops of few, known iterations by their bodies", .run = unroll_loops};
}

}  // namespace assay::passes
