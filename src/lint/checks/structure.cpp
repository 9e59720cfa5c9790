#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "lint/check.h"

namespace assay::lint {
namespace {

void report_load_findings(const Subject& subject, Findings& findings) {
  for (const Diagnostic& finding : subject.load_findings.all()) {
    const LintLevel level = finding.severity == Severity::error     ? LintLevel::exception
                            : finding.severity == Severity::warning ? LintLevel::warning
                                                                    : LintLevel::info;
    // Each node of an unknown operator gets an entry of its own elsewhere.
    if (finding.code == "unknown_operator" || finding.code == "unknown_domain") continue;
    findings.add(level, kLoader, finding.code, finding.message);
  }
}

void report_duplicate_names(const Subject& subject, Findings& findings) {
  for (uint32_t g = 0; g < subject.model.graph_slots(); ++g) {
    std::map<std::string_view, std::vector<size_t>> places;
    std::map<std::string_view, ir::NodeId> first;
    size_t place = 0;
    for (const ir::NodeId id : ir::nodes(subject.model, ir::GraphId{g})) {
      const std::string_view name = subject.model[id].name;
      if (!name.empty()) {
        places[name].push_back(place);
        first.try_emplace(name, id);
      }
      ++place;
    }
    for (const auto& [name, list] : places) {
      if (list.size() < 2) continue;
      findings.add(LintLevel::exception, kGraph, "duplicate_node_name", first.at(name),
                   fmt::format("Duplicate node name: '{}' for nodes with topological IDs: [{}] found.", printable(name),
                               fmt::join(list, ", ")));
    }
  }
}

void report_empty_names(const Subject& subject, Findings& findings) {
  const ir::Model& model = subject.model;
  if (model[model.main_graph()].name == ir::kEmpty) {
    findings.add(LintLevel::exception, kChecker, "empty_graph_name",
                 "Field 'name' of 'graph' is required to be non-empty.");
  }
  for (const ir::NodeId id : all_nodes(model)) {
    if (model[id].op == ir::kEmpty) {
      findings.add(LintLevel::exception, kChecker, "empty_op_type", id, "the node names no operator");
    }
  }
}

void report_all(const Subject& subject, Findings& findings) {
  report_load_findings(subject, findings);
  report_duplicate_names(subject, findings);
  report_empty_names(subject, findings);
  if (subject.model[subject.model.main_graph()].node_count == 0) {
    findings.add(LintLevel::warning, kLoader, "no_nodes", "ONNX model has no nodes");
  }
}

}  // namespace

Check check_structure() {
  return {"names defined twice or never, cycles, nodes out of order, duplicate or empty names", 0, report_all};
}

}  // namespace assay::lint
