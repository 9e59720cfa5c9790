#include "lint/findings.h"

#include <map>
#include <unordered_set>

#include <fmt/format.h>

namespace assay::lint {
namespace {

std::unordered_set<std::string_view> names_of_model(const ir::Model& model) {
  std::unordered_set<std::string_view> names;
  for (uint32_t i = 0; i < model.node_slots(); ++i) {
    const ir::Node& node = model[ir::NodeId{i}];
    if (is_live(node) && !node.name.empty()) names.insert(node.name);
  }
  return names;
}

// Names of the nodes that have none: by their places among the nodes of their graphs.
std::unordered_map<ir::NodeId, std::string> make_names(const ir::Model& model) {
  std::unordered_map<ir::NodeId, std::string> made;
  std::unordered_set<std::string_view> taken = names_of_model(model);
  std::map<size_t, int> numbers;  // by place: of the next node there whose name is taken
  for (uint32_t g = 0; g < model.graph_slots(); ++g) {
    size_t place = 0;
    for (const ir::NodeId id : ir::nodes(model, ir::GraphId{g})) {
      if (model[id].name.empty()) {
        std::string name = fmt::format("polygraphy_unnamed_node_{}", place);
        while (taken.contains(name)) name = fmt::format("polygraphy_unnamed_node_{}_{}", place, numbers[place]++);
        taken.insert(made.emplace(id, std::move(name)).first->second);
      }
      ++place;
    }
  }
  return made;
}

}  // namespace

Findings::Findings(const ir::Model& model)
    : model_(model), failing_(model.node_slots()), passing_(model.node_slots()) {}

results::LintEntry& Findings::add(LintLevel level, std::string_view source, std::string_view code,
                                  std::string message) {
  return entries_->emplace_back(
      results::LintEntry{level, std::string(source), std::string(code), std::move(message), {}, {}});
}

results::LintEntry& Findings::add(LintLevel level, std::string_view source, std::string_view code, ir::NodeId node,
                                  std::string message) {
  if (level == LintLevel::exception) failing_[node.index] = true;
  results::LintEntry& entry = add(level, source, code, std::move(message));
  entry.node = name_of(node);
  entry.op = model_.text(model_[node].op);
  return entry;
}

std::string Findings::name_of(ir::NodeId node) {
  if (!model_[node].name.empty()) return std::string(model_[node].name);
  if (made_names_.empty()) made_names_ = make_names(model_);
  return made_names_[node];
}

void Findings::finish(results::LintReport& report) {
  for (uint32_t i = 0; i < model_.node_slots(); ++i) {
    if (failing_[i]) {
      report.failing.push_back(name_of(ir::NodeId{i}));
    } else if (passing_[i]) {
      report.passing.push_back(name_of(ir::NodeId{i}));
    }
  }
}

}  // namespace assay::lint
