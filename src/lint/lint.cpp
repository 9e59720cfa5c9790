#include "lint/lint.h"

#include <algorithm>

#include <fmt/format.h>

#include "lint/check.h"

namespace assay::lint {
namespace {

// Names of nodes; a node without one is called by its place among the nodes of its graph.
std::vector<std::string> node_names(const ir::Model& model) {
  std::vector<std::string> names(model.node_slots());
  std::set<std::string, std::less<>> taken;
  std::map<size_t, int> numbers;  // by place: of the next node there whose name is taken
  for (const ir::NodeId id : all_nodes(model)) {
    names[id.index] = model[id].name;
    if (!names[id.index].empty()) taken.insert(names[id.index]);
  }
  for (uint32_t g = 0; g < model.graph_slots(); ++g) {
    size_t place = 0;
    for (const ir::NodeId id : ir::nodes(model, ir::GraphId{g})) {
      std::string& name = names[id.index];
      if (name.empty()) {
        name = fmt::format("polygraphy_unnamed_node_{}", place);
        while (taken.contains(name)) name = fmt::format("polygraphy_unnamed_node_{}_{}", place, numbers[place]++);
        taken.insert(name);
      }
      ++place;
    }
  }
  return names;
}

bool is_about_operators(std::string_view code) {
  return code == "unknown_operator" || code == "unknown_domain" || code == "no_opset_import";
}

bool is_sound(const Diagnostics& load_findings) {
  return std::ranges::none_of(load_findings.all(), [](const Diagnostic& finding) {
    return finding.severity == Severity::error && !is_about_operators(finding.code);
  });
}

}  // namespace

Findings::Findings(const ir::Model& model, results::LintReport& report)
    : model_(model), report_(report), names_(node_names(model)) {}

void Findings::add(LintLevel level, std::string_view source, std::string_view code, std::string message) {
  report_.entries.push_back({level, std::string(source), std::string(code), std::move(message), {}, {}});
}

void Findings::add(LintLevel level, std::string_view source, std::string_view code, ir::NodeId node,
                   std::string message) {
  if (level == LintLevel::exception) failing_.insert(node);
  report_.entries.push_back({level, std::string(source), std::string(code), std::move(message), name_of(node),
                             std::string(model_.text(model_[node].op))});
}

std::string Findings::name_of(ir::NodeId node) const { return names_[node.index]; }

void Findings::finish() {
  for (const ir::NodeId id : all_nodes(model_)) {
    if (failing_.contains(id)) {
      report_.failing.push_back(name_of(id));
    } else if (passing_.contains(id)) {
      report_.passing.push_back(name_of(id));
    }
  }
}

std::vector<ir::NodeId> all_nodes(const ir::Model& model) {
  std::vector<ir::NodeId> nodes;
  for (uint32_t i = 0; i < model.node_slots(); ++i) {
    const ir::Node& node = model[ir::NodeId{i}];
    if (node.alive && !node.is_outputs) nodes.push_back(ir::NodeId{i});
  }
  return nodes;
}

const tensor::Tensor* constant_operand(const Subject& subject, const ir::Node& node, uint32_t operand) {
  if (operand >= node.operands.size() || !node.operands[operand].value.valid()) return nullptr;
  return subject.inference.constant(node.operands[operand].value);
}

results::LintReport lint_model(ir::Model& model, const Diagnostics& load_findings,
                               const std::optional<std::vector<ops::InputDatum>>& inputs,
                               const ops::InterpreterOptions& limits) {
  results::LintReport report;
  Findings findings(model, report);
  ops::Inference inference(model);
  inference.run();
  const ops::Resolver callees(model);
  const Subject subject{model, load_findings, inference, callees, inputs, limits, is_sound(load_findings)};
  std::vector<Check> checks;
  for (const Registered<Check>& entry : registered_checks()) checks.push_back(entry.make());
  std::ranges::stable_sort(checks, {}, &Check::order);
  for (const Check& check : checks) check.run(subject, findings);
  findings.finish();
  return report;
}

}  // namespace assay::lint
