#include "lint/lint.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "lint/check.h"

namespace assay::lint {
namespace {

bool is_about_operators(std::string_view code) {
  return code == "unknown_operator" || code == "unknown_domain" || code == "no_opset_import";
}

std::vector<Check> checks_in_order() {
  std::vector<Check> checks;
  for (const Registered<Check>& entry : registered_checks()) checks.push_back(entry.make());
  std::ranges::stable_sort(checks, {}, &Check::order);
  return checks;
}

// Goes over the model once for all looks, and keeps what each finds apart.
class Walk {
 public:
  Walk(const Subject& subject, const std::vector<Check>& checks, Findings& findings)
      : subject_(subject), model_(subject.model), findings_(findings) {
    for (const Check& check : checks) {
      for (const Look& look : check.looks) looks_.push_back({look, {}});
    }
  }

  void run() {
    for (uint32_t i = 0; i < model_.value_slots(); ++i) {
      if (model_[ir::ValueId{i}].alive) visit_value(ir::ValueId{i});
    }
    for (uint32_t i = 0; i < model_.node_slots(); ++i) {
      if (is_live(model_[ir::NodeId{i}])) visit_node(ir::NodeId{i});
    }
    for (OpenLook& open : looks_) {
      if (open.look.at_model) open.look.at_model(subject_, into(open));
    }
  }

  std::vector<results::LintEntry> take_entries() {
    std::vector<results::LintEntry> entries;
    for (OpenLook& open : looks_) std::ranges::move(open.entries, std::back_inserter(entries));
    return entries;
  }

 private:
  struct OpenLook {
    Look look;
    std::vector<results::LintEntry> entries;
  };

  Findings& into(OpenLook& open) {
    findings_.set_target(open.entries);
    return findings_;
  }

  void visit_value(ir::ValueId value) {
    for (OpenLook& open : looks_) {
      if (open.look.at_value) open.look.at_value(subject_, value, into(open));
    }
  }

  void visit_node(ir::NodeId node) {
    const auto [entry, is_new] = by_op_.try_emplace(model_[node].op);
    if (is_new) entry->second = looks_at(model_.text(model_[node].op));
    for (OpenLook* const open : entry->second) open->look.at_node(subject_, node, into(*open));
  }

  std::vector<OpenLook*> looks_at(std::string_view op) {
    std::vector<OpenLook*> found;
    for (OpenLook& open : looks_) {
      const std::vector<std::string_view>& ops = open.look.ops;
      const bool is_wanted = ops.empty() || std::ranges::find(ops, op) != ops.end();
      if (open.look.at_node && is_wanted) found.push_back(&open);
    }
    return found;
  }

  const Subject& subject_;
  const ir::Model& model_;
  Findings& findings_;
  std::vector<OpenLook> looks_;                                   // in the order of their findings
  std::unordered_map<ir::Symbol, std::vector<OpenLook*>> by_op_;  // that want its nodes; made when one is met
};

}  // namespace

const tensor::Tensor* constant_operand(const Subject& subject, const ir::Node& node, uint32_t operand) {
  if (operand >= node.operands.size() || !node.operands[operand].value.valid()) return nullptr;
  return subject.inference.constant(node.operands[operand].value);
}

bool is_sound(const Diagnostics& load_findings) {
  return std::ranges::none_of(load_findings.all(), [](const Diagnostic& finding) {
    return finding.severity == Severity::error && !is_about_operators(finding.code);
  });
}

results::LintReport lint_model(const ir::Model& model, const Diagnostics& load_findings,
                               const std::optional<RunInputs>& inputs, const ops::InterpreterOptions& limits) {
  results::LintReport report;
  Findings findings(model);
  ops::Inference inference(model, inputs ? inputs->given : ops::InputTypes());
  inference.run();
  const Subject subject{model, load_findings, inference, inference.callees(), inputs, limits, is_sound(load_findings)};
  Walk walk(subject, checks_in_order(), findings);
  walk.run();
  report.entries = walk.take_entries();
  findings.finish(report);
  return report;
}

}  // namespace assay::lint
