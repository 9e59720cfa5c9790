#include "passes/layers.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "ir/naming.h"

namespace assay::passes {
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

bool is_among(const std::vector<std::string>& words, std::string_view op) {
  return std::ranges::any_of(words, [op](const std::string& word) { return to_lower(word) == to_lower(op); });
}

}  // namespace

Layer make_layer(const ir::Model& model, ir::NodeId node, std::string reason) {
  return {node, std::string(ir::known_name(model, node)), std::string(model.text(model[node].op)), reason.empty(),
          std::move(reason)};
}

bool keep_behind(uint64_t most, const std::vector<Layer>& layers, LayerChoice& choice) {
  bool is_any_kept = false;
  uint64_t count = 0;
  for (const Layer& layer : layers) {
    if (!layer.converted || ++count <= most) continue;
    choice.kept[layer.node] = "it comes after the last step";
    is_any_kept = true;
  }
  return is_any_kept;
}

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

std::string LayerFilter::refusal(ir::NodeId node, std::string_view op) const {
  if (excluded_[node.index]) return "excluded by name";
  const bool is_other = !choice_.only_ops.empty() && !is_among(choice_.only_ops, op);
  if (is_other || is_among(choice_.excluded_ops, op)) return "excluded by its operator";
  const auto kept = choice_.kept.find(node);
  return kept == choice_.kept.end() ? std::string{} : kept->second;
}

}  // namespace assay::passes
