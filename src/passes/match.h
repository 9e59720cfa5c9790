#pragma once

#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "passes/pass.h"
#include "passes/walk.h"

namespace assay::passes {

// An operand; invalid where it is left out or there are not so many.
inline ir::ValueId operand(const ir::Model& model, ir::NodeId node, uint32_t index) {
  const ir::Node& facts = model[node];
  return index < facts.operands.size() ? facts.operands[index].value : ir::ValueId{};
}

// A result; invalid likewise.
inline ir::ValueId result(const ir::Model& model, ir::NodeId node, uint32_t index = 0) {
  const ir::Node& facts = model[node];
  return index < facts.results.size() ? facts.results[index] : ir::ValueId{};
}

inline ir::NodeId producer(const ir::Model& model, ir::ValueId value) {
  return value ? model[value].producer : ir::NodeId{};
}

inline bool is_output(const ir::Model& model, ir::ValueId value) {
  for (const ir::Use& use : ir::uses(model, value)) {
    if (model[use.user].is_outputs) return true;
  }
  return false;
}

// Whether all that uses the value is this one node of its graph, in one place: then it may go with that node.
inline bool is_only_for(const ir::Model& model, ir::ValueId value, ir::NodeId user) {
  const ir::Use* use = model[value].first_use;
  return use && !use->next && use->user == user && model[value].graph == model[user].graph;
}

// Whether nothing uses the results behind the first.
inline bool is_first_result_enough(const ir::Model& model, ir::NodeId node) {
  for (uint32_t i = 1; i < model[node].results.size(); ++i) {
    const ir::ValueId value = result(model, node, i);
    if (value && model[value].first_use) return false;
  }
  return result(model, node).valid();
}

// Whether an attribute is only known when the enclosing function is called.
inline bool has_references(const ir::Node& node) {
  for (const ir::Attribute& attribute : node.attributes) {
    if (attribute.is_reference()) return true;
  }
  return false;
}

// What a pass does with the nodes of one operator of ai.onnx.
template <typename Context>
struct Rule {
  std::string_view op;
  void (*apply)(Context& context, ir::NodeId node);
};

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
  for (const ir::GraphId graph : live_graphs(model)) {
    ir::NodeId next;
    for (ir::NodeId node = model[graph].first; node && !run.rewriter().is_done(); node = next) {
      next = model[node].next;
      const auto rule = by_op.find(model[node].op);
      if (rule == by_op.end() || has_references(model[node]) || !run.is_op(node, rule->second->op)) continue;
      try {
        rule->second->apply(context, node);
      } catch (const Error& error) {
        run.skip(node, error.line());
      }
    }
  }
}

}  // namespace assay::passes
