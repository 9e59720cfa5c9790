#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "ir/queries.h"
#include "ir/walk.h"
#include "match/uses.h"
#include "ops/traits.h"
#include "passes/pass.h"

namespace assay::passes {

// A rule of a pass for the nodes of one operator of ai.onnx.
template <typename Context>
struct Rule {
  std::string_view op;
  void (*apply)(Context& context, ir::NodeId node);
};

// A rule for all operators of ai.onnx that are so.
template <typename Context>
std::vector<Rule<Context>> rules_of(bool (*are)(const ops::Traits& traits), void (*apply)(Context&, ir::NodeId)) {
  std::vector<Rule<Context>> rules;
  for (const std::string_view op : ops::operators_that(are)) rules.push_back({op, apply});
  return rules;
}

// Applies to each node of the model, in order and outer graphs first, the rule of its operator, until the rewriter is
// done. A rule may replace its node and remove earlier ones. Nodes that break their operator's rules are left alone, as
// are those with attributes that calls decide.
template <typename Context, typename Rules>
void apply_rules(PassRun& run, Context& context, const Rules& rules) {
  const ir::Model& model = run.model();
  std::unordered_map<ir::Symbol, const Rule<Context>*> by_op;
  for (const Rule<Context>& rule : rules) by_op.emplace(model.symbols().find(rule.op), &rule);
  by_op.erase(ir::Symbol{});
  if (by_op.empty()) return;
  for (const ir::GraphId graph : ir::live_graphs(model)) {
    ir::NodeId next;
    for (ir::NodeId node = model[graph].first; node && !run.rewriter().is_done(); node = next) {
      next = model[node].next;
      const auto rule = by_op.find(model[node].op);
      if (rule == by_op.end() || ir::has_references(model[node])) continue;
      if (!run.is_op(node, rule->second->op) || run.is_refused(node)) continue;
      try {
        rule->second->apply(context, node);
      } catch (const Error& error) {
        run.skip(node, error.line());
      }
    }
  }
}

}  // namespace assay::passes
