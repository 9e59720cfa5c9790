#include "match/named_nodes.h"

#include "base/error.h"
#include "base/text.h"
#include "ir/naming.h"

namespace assay::match {
namespace {

bool is_named(const ir::Model& model, const ir::Node& node, std::string_view pattern) {
  const auto fits = [pattern](std::string_view name) {
    return !name.empty() && (name == pattern || matches_glob(pattern, name));
  };
  if (fits(node.name)) return true;
  for (const ir::ValueId result : node.results) {
    if (result && fits(model.text(model[result].name))) return true;
  }
  return false;
}

[[noreturn]] void fail_unknown(const ir::Model& model, const std::vector<ir::NodeId>& nodes, std::string_view name) {
  constexpr size_t kMostCandidates = 10'000;
  std::vector<std::string> names;
  for (const ir::NodeId node : nodes) {
    if (names.size() < kMostCandidates) names.emplace_back(ir::known_name(model, node));
  }
  const std::optional<std::string> near = did_you_mean(name, names);
  fail(ErrorCode::usage, "there is no node `{}`{}", printable(name),
       near ? fmt::format(": did you mean `{}`?", printable(*near)) : "");
}

}  // namespace

std::vector<bool> named_nodes(const ir::Model& model, const std::vector<ir::NodeId>& nodes,
                              const std::vector<std::string>& patterns, Diagnostics& findings) {
  std::vector<bool> named(model.node_slots());
  for (const std::string& pattern : patterns) {
    bool is_found = false;
    for (const ir::NodeId node : nodes) {
      if (!is_named(model, model[node], pattern)) continue;
      named[node.index] = true;
      is_found = true;
    }
    if (is_found) continue;
    if (pattern.find_first_of("*?[") == std::string::npos) fail_unknown(model, nodes, pattern);
    findings.warn("name", "", fmt::format("no node is called `{}`", printable(pattern)));
  }
  return named;
}

}  // namespace assay::match
