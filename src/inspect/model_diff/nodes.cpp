#include <fmt/format.h>

#include "base/text.h"
#include "inspect/model_diff/parts.h"
#include "ir/verify.h"

namespace assay::inspect {
namespace {

using ir::GraphId;
using ir::NodeId;
using ir::ValueId;
using results::FactChange;

std::string function_label(const ir::Model& model, GraphId body) {
  for (const ir::Function& f : model.functions()) {
    if (f.body == body) return printable(fmt::format("function `{}::{}`", model.text(f.domain), model.text(f.name)));
  }
  return "";
}

std::string attribute_of_body(const ir::Model& model, GraphId body) {
  for (const ir::Attribute& attribute : model[model[body].parent].attributes) {
    for (const GraphId graph : attribute.graphs()) {
      if (graph == body) return std::string(model.text(attribute.name()));
    }
  }
  return "";
}

// The place of a graph, from the inside out; empty for the main graph.
std::string graph_label(const ir::Model& model, GraphId graph) {
  std::string label;
  for (; model[graph].parent; graph = model.enclosing(graph)) {
    label += fmt::format("{}`{}` of {}", label.empty() ? "" : " in ", printable(attribute_of_body(model, graph)),
                         ir::describe(model, model[graph].parent));
  }
  if (graph == model.main_graph()) return label;
  const std::string function = function_label(model, graph);
  return label.empty() || function.empty() ? label + function : fmt::format("{} in {}", label, function);
}

class NodeDiff {
 public:
  NodeDiff(const DiffContext& context, results::ModelDiff& diff) : context_(context), diff_(diff) {}

  void run(std::pair<GraphId, GraphId> graphs) {
    NodeId last_in_b;
    diff_body(graphs);
    for (const NodeId a : ir::nodes(context_.a, graphs.first)) {
      const NodeId b = context_.matching.nodes_in_b[a.index];
      if (!b) {
        diff_.nodes.removed.push_back(alone(context_.a, a));
        continue;
      }
      if (last_in_b && context_.b.is_before(b, last_in_b)) diff_.nodes.reordered = true;
      last_in_b = b;
      compare(a, b);
    }
    for (const NodeId b : ir::nodes(context_.b, graphs.second)) {
      if (!context_.matching.nodes_in_a[b.index]) diff_.nodes.added.push_back(alone(context_.b, b));
    }
  }

 private:
  static results::NodeDifference alone(const ir::Model& model, NodeId node) {
    return {ir::describe(model, node), {}, graph_label(model, model[node].graph), {}};
  }

  void compare(NodeId a, NodeId b) {
    std::vector<FactChange> changes;
    const ir::Node& node_a = context_.a[a];
    const ir::Node& node_b = context_.b[b];
    diff_operator(node_a, node_b, changes);
    diff_attributes(context_, node_a.attributes, node_b.attributes, changes);
    diff_wiring(context_, "input", {node_a.operands, node_b.operands}, changes);
    diff_results(node_a, node_b, changes);
    diff_names(node_a, node_b);
    if (!changes.empty()) add_changed(a, b, std::move(changes));
  }

  void add_changed(NodeId a, NodeId b, std::vector<FactChange> changes) {
    const std::string before = ir::describe(context_.a, a);
    const std::string after = ir::describe(context_.b, b);
    const std::string other = before == after ? "" : after;
    diff_.nodes.changed.push_back({before, other, graph_label(context_.a, context_.a[a].graph), std::move(changes)});
  }

  void diff_operator(const ir::Node& a, const ir::Node& b, std::vector<FactChange>& changes) const {
    const auto add = [&](const char* what, ir::Symbol before, ir::Symbol after) {
      const std::string_view text_a = context_.a.text(before);
      const std::string_view text_b = context_.b.text(after);
      if (text_a != text_b) changes.push_back({what, std::string(text_a), std::string(text_b), {}});
    };
    add("operator", a.op, b.op);
    add("domain", a.domain, b.domain);
    add("overload", a.overload, b.overload);
  }

  void diff_results(const ir::Node& a, const ir::Node& b, std::vector<FactChange>& changes) const {
    for (size_t i = 0; i < std::max(a.results.size(), b.results.size()); ++i) {
      const ValueId in_a = i < a.results.size() ? a.results[i] : ValueId{};
      const ValueId in_b = i < b.results.size() ? b.results[i] : ValueId{};
      if (in_a.valid() == in_b.valid()) continue;
      changes.push_back({fmt::format("output {}", i),
                         operand_text(context_.a, in_a, false),
                         operand_text(context_.b, in_b, false),
                         {}});
    }
  }

  void add_rename(ValueId a, ValueId b, std::vector<results::Rename>& renames) const {
    if (!a || !b || context_.matching.values_in_b[a.index] != b) return;
    const std::string_view before = context_.a.text(context_.a[a].name);
    const std::string_view after = context_.b.text(context_.b[b].name);
    if (before != after) renames.push_back({std::string(before), std::string(after)});
  }

  void diff_names(const ir::Node& a, const ir::Node& b) {
    std::vector<results::Rename> renames;
    for (size_t i = 0; i < std::min(a.results.size(), b.results.size()); ++i) {
      add_rename(a.results[i], b.results[i], renames);
    }
    if (a.name == b.name && renames.empty()) return;
    diff_.nodes.renamed.push_back({{std::string(a.name), std::string(b.name)},
                                   std::string(context_.a.text(a.op)),
                                   graph_label(context_.a, a.graph),
                                   std::move(renames)});
  }

  // Inputs and outputs of a body; functions are looked at elsewhere.
  void diff_body(std::pair<GraphId, GraphId> graphs) {
    const ir::Graph& a = context_.a[graphs.first];
    const ir::Graph& b = context_.b[graphs.second];
    if (!a.parent || !b.parent) return;
    std::vector<FactChange> changes;
    const std::string label = graph_label(context_.a, graphs.first);
    add_change("number of inputs", fmt::format("{}", a.inputs.size()), fmt::format("{}", b.inputs.size()), changes);
    diff_wiring(context_, "output", {context_.a.outputs(graphs.first), context_.b.outputs(graphs.second)}, changes);
    if (!changes.empty()) diff_.nodes.changed.push_back({label, {}, {}, std::move(changes)});
    std::vector<results::Rename> renames;
    for (size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i) {
      add_rename(a.inputs[i], b.inputs[i], renames);
    }
    if (!renames.empty()) diff_.nodes.renamed.push_back({{}, "inputs", label, std::move(renames)});
  }

  const DiffContext& context_;
  results::ModelDiff& diff_;
};

}  // namespace

bool correspond(const DiffContext& context, ValueId a, ValueId b) {
  if (!a || !b) return !a && !b;
  const ir::Value& value_a = context.a[a];
  const ir::Value& value_b = context.b[b];
  if (value_a.kind == ir::ValueKind::undefined && value_b.kind == ir::ValueKind::undefined) {
    return context.options.ignore_names || context.a.text(value_a.name) == context.b.text(value_b.name);
  }
  return context.matching.values_in_b[a.index] == b;
}

std::string operand_text(const ir::Model& model, ValueId value, bool with_origin) {
  if (!value) return "(none)";
  const ir::Value& what = model[value];
  const std::string name = fmt::format("`{}`", printable(model.text(what.name)));
  if (!with_origin) return name;
  if (what.producer) return fmt::format("{} of {}", name, ir::describe(model, what.producer));
  const bool is_input = what.kind == ir::ValueKind::input;
  return fmt::format("{} ({})", name, what.constant ? "weight" : is_input ? "input" : "undefined");
}

void diff_wiring(const DiffContext& context, std::string_view word, const OperandPair& operands,
                 std::vector<FactChange>& changes) {
  const auto& [a, b] = operands;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const ValueId in_a = i < a.size() ? a[i].value : ValueId{};
    const ValueId in_b = i < b.size() ? b[i].value : ValueId{};
    if (correspond(context, in_a, in_b)) continue;
    std::string before = operand_text(context.a, in_a, false);
    std::string after = operand_text(context.b, in_b, false);
    const bool alike = before == after;
    if (alike) before = operand_text(context.a, in_a, true);
    if (alike) after = operand_text(context.b, in_b, true);
    changes.push_back({fmt::format("{} {}", word, i), std::move(before), std::move(after), {}});
  }
}

void diff_nodes(const DiffContext& context, results::ModelDiff& diff) {
  NodeDiff nodes(context, diff);
  for (const std::pair<GraphId, GraphId>& graphs : context.matching.graphs) nodes.run(graphs);
}

}  // namespace assay::inspect
