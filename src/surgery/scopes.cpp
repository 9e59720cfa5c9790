#include "surgery/scopes.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/naming.h"
#include "ir/walk.h"

namespace assay::surgery {
namespace {

constexpr size_t kScopes = 3;
constexpr size_t kMostCandidates = 10'000;

}  // namespace

Scopes::Scopes(const ir::Model& model) : model_(model), nodes_(kScopes) {
  for (const ir::GraphId graph : ir::live_graphs(model)) {
    std::vector<ir::NodeId>& nodes = nodes_[scope_of(graph)];
    for (const ir::NodeId node : ir::nodes(model, graph)) nodes.push_back(node);
  }
}

size_t Scopes::scope_of(ir::GraphId graph) const {
  if (graph == model_.main_graph()) return 0;
  return model_.root(graph) == model_.main_graph() ? 1 : 2;
}

std::vector<std::vector<ir::ValueId>> Scopes::values() const {
  std::vector<std::vector<ir::ValueId>> values(kScopes);
  for (const ir::ValueId value : ir::live_values(model_)) {
    if (model_[value].name != ir::kEmpty) values[scope_of(model_[value].graph)].push_back(value);
  }
  return values;
}

std::vector<ir::NodeId> Scopes::named(std::string_view name) const {
  const auto has_result = [&](ir::NodeId node) {
    return std::ranges::any_of(model_[node].results,
                               [&](ir::ValueId result) { return result && model_.text(model_[result].name) == name; });
  };
  for (const std::vector<ir::NodeId>& nodes : nodes_) {
    std::vector<ir::NodeId> found;
    std::ranges::copy_if(nodes, std::back_inserter(found), [&](ir::NodeId node) { return model_[node].name == name; });
    if (found.empty()) std::ranges::copy_if(nodes, std::back_inserter(found), has_result);
    if (!found.empty()) return found;
  }
  return {};
}

ir::NodeId Scopes::node(std::string_view name) const {
  const std::vector<ir::NodeId> found = name.empty() ? std::vector<ir::NodeId>() : named(name);
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    const auto result = [&](ir::NodeId node) {
      return model_[node].results.empty() ? "" : printable(model_.text(model_[model_[node].results[0]].name));
    };
    fail(ErrorCode::usage, "{} nodes are called `{}`; name one by its result, as `{}` or `{}`", found.size(),
         printable(name), result(found[0]), result(found[1]));
  }
  std::vector<std::string> known;
  for (const std::vector<ir::NodeId>& nodes : nodes_) {
    for (const ir::NodeId node : nodes) known.emplace_back(ir::known_name(model_, node));
  }
  fail_unknown_name("node", name, std::move(known));
}

bool Scopes::are_nested(ir::GraphId a, ir::GraphId b) const {
  const auto stands_in = [&](ir::GraphId inner, ir::GraphId outer) {
    while (inner && inner != outer) inner = model_.enclosing(inner);
    return inner.valid();
  };
  return stands_in(a, b) || stands_in(b, a);
}

void fail_unknown_name(std::string_view what, std::string_view name, std::vector<std::string> known) {
  std::ranges::sort(known);
  known.resize(std::min(known.size(), kMostCandidates));
  const std::optional<std::string> near = did_you_mean(name, known);
  fail(ErrorCode::usage, "the model has no {} `{}`{}", what, printable(name),
       near ? fmt::format("; did you mean `{}`?", printable(*near)) : "");
}

}  // namespace assay::surgery
