#include <algorithm>
#include <bit>
#include <functional>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/queries.h"
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

// A node by its name.
struct NamedNode {
  std::string_view name;
  size_t hash = 0;
  size_t place = 0;  // among the nodes of the graph
  ir::NodeId id;
};

// The nodes whose names may be those of others; of nodes with names of their own, few.
std::vector<NamedNode> suspects(const ir::Model& model, ir::GraphId graph) {
  const size_t marks = std::bit_ceil(16 * size_t{model[graph].node_count} + 1);
  const auto hash_of = [](std::string_view name) { return std::hash<std::string_view>{}(name); };
  std::vector<bool> seen(marks), seen_again(marks);
  for (const ir::NodeId id : ir::nodes(model, graph)) {
    const size_t mark = hash_of(model[id].name) % marks;
    if (seen[mark]) seen_again[mark] = true;
    seen[mark] = true;
  }
  std::vector<NamedNode> found;
  size_t place = 0;
  for (const ir::NodeId id : ir::nodes(model, graph)) {
    const std::string_view name = model[id].name;
    const size_t hash = hash_of(name);
    if (!name.empty() && seen_again[hash % marks]) found.push_back({name, hash, place, id});
    ++place;
  }
  return found;
}

// The nodes that share their name with another one, by name and place. Names are told apart by their hashes first.
std::vector<NamedNode> namesakes(const ir::Model& model, ir::GraphId graph) {
  std::vector<NamedNode> all = suspects(model, graph);
  std::ranges::sort(all, {}, &NamedNode::hash);
  std::vector<NamedNode> found;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_like_last = i > 0 && all[i].hash == all[i - 1].hash;
    const bool is_like_next = i + 1 < all.size() && all[i].hash == all[i + 1].hash;
    if (is_like_last || is_like_next) found.push_back(all[i]);
  }
  std::ranges::sort(found, {}, [](const NamedNode& node) { return std::pair(node.name, node.place); });
  return found;
}

void report_duplicate_names(const Subject& subject, ir::GraphId graph, Findings& findings) {
  const std::vector<NamedNode> nodes = namesakes(subject.model, graph);
  for (size_t begin = 0, end = 0; begin < nodes.size(); begin = end) {
    std::vector<size_t> places;
    size_t computing = 0;
    for (; end < nodes.size() && nodes[end].name == nodes[begin].name; ++end) {
      places.push_back(nodes[end].place);
      computing += ir::is_constant_node(subject.model, nodes[end].id) ? 0 : 1;
    }
    if (places.size() < 2) continue;
    // ONNX Runtime turns Constant nodes into initializers before it looks at names.
    const LintLevel level = computing < 2 ? LintLevel::warning : LintLevel::exception;
    findings.add(level, kGraph, "duplicate_node_name", nodes[begin].id,
                 fmt::format("Duplicate node name: '{}' for nodes with topological IDs: [{}] found.",
                             printable(nodes[begin].name), fmt::join(places, ", ")));
  }
}

void report_names(const Subject& subject, Findings& findings) {
  const ir::Model& model = subject.model;
  for (uint32_t g = 0; g < model.graph_slots(); ++g) report_duplicate_names(subject, ir::GraphId{g}, findings);
  if (model[model.main_graph()].name == ir::kEmpty) {
    findings.add(LintLevel::exception, kChecker, "empty_graph_name",
                 "Field 'name' of 'graph' is required to be non-empty.");
  }
}

void report_empty_operator(const Subject&, ir::NodeId id, Findings& findings) {
  findings.add(LintLevel::exception, kChecker, "empty_op_type", id, "the node names no operator");
}

void report_empty_model(const Subject& subject, Findings& findings) {
  if (subject.model[subject.model.main_graph()].node_count == 0) {
    findings.add(LintLevel::warning, kLoader, "no_nodes", "ONNX model has no nodes");
  }
}

}  // namespace

Check check_structure() {
  return {"names defined twice or never, cycles, nodes out of order, duplicate or empty names",
          0,
          {{.at_model = report_load_findings},
           {.at_model = report_names},
           {.at_node = report_empty_operator, .ops = {""}},
           {.at_model = report_empty_model}}};
}

}  // namespace assay::lint
