#include "ops/kernels/elements/type_union.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

// A known condition decides; the branch that never runs is not looked at, because exporters leave branches that break
// rules behind such conditions. Else what both branches agree on holds.
void infer_if(Infer& node) {
  const std::optional<double> condition = node.number_of(0);
  const auto infer_branch = [&](const char* name, bool runs) {
    const ir::GraphId body = node.graph(name);
    return runs ? node.infer_body(body, {}) : std::vector<Type>(node.model().outputs(body).size());
  };
  const std::vector<Type> chosen = infer_branch("then_branch", !condition || *condition != 0);
  const std::vector<Type> other = infer_branch("else_branch", !condition || *condition == 0);
  if (chosen.size() != other.size() || chosen.size() != node.output_count()) {
    fail(ErrorCode::shape, "its branches have {} and {} outputs, the node has {}", chosen.size(), other.size(),
         node.output_count());
  }
  for (uint32_t i = 0; i < node.output_count(); ++i) {
    node.set_type(i, !condition ? type_union(chosen[i], other[i]) : *condition != 0 ? chosen[i] : other[i]);
  }
}

void eval_if(Eval& node) {
  if (node.count(0) != 1) fail(ErrorCode::shape, "the condition must have one element, it has {}", node.count(0));
  const bool condition = node.load<uint64_t>(0).front() != 0;
  const std::vector<Datum> results = node.run_body(node.graph(condition ? "then_branch" : "else_branch"), {});
  for (uint32_t i = 0; i < node.output_count() && i < results.size(); ++i) node.set(i, results[i]);
}

}  // namespace

OperatorRows operator_control_if() {
  static constexpr Operator kRows[] = {
      {.name = "If",
       .traits = {Nature::control, {.decisions = {0}, .bodies = Bodies::one_of_two}},
       .infer = infer_if,
       .eval = eval_if},
  };
  return kRows;
}

}  // namespace assay::ops
