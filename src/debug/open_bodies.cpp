#include "debug/open_bodies.h"

#include <algorithm>
#include <array>

#include "ir/constants.h"
#include "ir/edit.h"
#include "ir/naming.h"
#include "ir/queries.h"
#include "ops/traits.h"
#include "passes/pipelines.h"

namespace assay::debug {
namespace {

constexpr std::array<std::string_view, 4> kPasses = {"inline-functions", "flatten-if", "unroll-loops", "flatten-if"};

// The values that decide what runs, as constants: the condition of an If, the trip count and condition of a Loop.
void fix_decisions(const ir::Model& source, const ValueOracle& value_of, ir::Model& model) {
  ir::Edit edit(model);
  for (const ir::NodeId node : ir::nodes(source, source.main_graph())) {
    const ops::OperandSet& decisions = ops::traits(source, node).decisions;
    for (uint32_t i = 0; i < source[node].operands.size(); ++i) {
      const ir::ValueId value = decisions.contains(i) ? ir::operand(source, node, i) : ir::ValueId();
      const std::optional<tensor::Datum> known = value ? value_of(value) : std::nullopt;
      if (!known || !known->is_tensor()) continue;
      const ir::Symbol name = ir::fresh_name(edit, "decided");
      edit.set_operand(node, i, ir::add_initializer(edit, {model.main_graph(), name, known->tensor()}));
    }
  }
}

}  // namespace

bool holds_nodes(const ir::Model& model, ir::NodeId node) {
  const bool calls_function = std::ranges::any_of(model.functions(), [&](const ir::Function& function) {
    return function.name == model[node].op && function.domain == model[node].domain;
  });
  return calls_function || !model.bodies(model[node]).empty();
}

std::optional<Opened> open_bodies(const ir::Model& model, const ValueOracle& value_of) {
  std::vector<ir::NodeId> closed;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    if (holds_nodes(model, node)) closed.push_back(node);
  }
  if (closed.empty()) return std::nullopt;
  Opened opened{model.copy(), {}};
  fix_decisions(model, value_of, opened.model);
  ir::Rewriter rewriter(opened.model);
  passes::Pipeline(opened.model, rewriter, {}).run(kPasses);
  for (const ir::NodeId node : closed) {
    if (!opened.model[node].alive) opened.nodes.emplace_back(ir::known_name(model, node));
  }
  return opened.nodes.empty() ? std::nullopt : std::optional(std::move(opened));
}

}  // namespace assay::debug
