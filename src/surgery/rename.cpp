#include "surgery/rename.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/edit.h"
#include "ir/naming.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "surgery/scopes.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

// The part of the name that the `*` of the pattern stands for; nullopt if the name does not fit.
std::optional<std::string_view> starred(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  const std::string_view before = pattern.substr(0, star);
  const std::string_view after = pattern.substr(star + 1);
  const bool fits = name.size() >= before.size() + after.size() && name.starts_with(before) && name.ends_with(after);
  if (!fits) return std::nullopt;
  return name.substr(before.size(), name.size() - before.size() - after.size());
}

bool is_pattern(const Renaming& item) { return item.from.find('*') != std::string::npos; }

void check_stars(const Renaming& item) {
  const auto stars = std::ranges::count(item.from, '*');
  if (stars > 1 || std::ranges::count(item.to, '*') > stars) {
    fail(ErrorCode::usage, "`{}` to `{}`: expected one `*` in the old name for one in the new name, as in `old/*`",
         printable(item.from), printable(item.to));
  }
  if (item.to.empty()) fail(ErrorCode::usage, "the new name of `{}` is empty", printable(item.from));
}

class Renamer {
 public:
  explicit Renamer(ir::Model& model) : model_(model), edit_(model), scopes_(model) {}

  void choose(const Renamings& renamings) {
    const ir::Graph& main = model_[model_.main_graph()];
    std::vector<ValueId> outputs;
    for (const ir::Use& use : model_.outputs(model_.main_graph())) outputs.push_back(use.value);
    for (const Renaming& item : renamings.inputs) choose_values("input", {main.inputs}, item);
    for (const Renaming& item : renamings.outputs) choose_values("output", {outputs}, item);
    const std::vector<std::vector<ValueId>> values = scopes_.values();
    for (const Renaming& item : renamings.values) choose_values("value", values, item);
    const std::vector<std::vector<NodeId>> nodes = scopes_.nodes();
    for (const Renaming& item : renamings.nodes) choose_nodes(nodes, item);
  }

  std::vector<Renamed> apply() {
    check_clashes();
    check_node_clashes();
    for (const auto& [value, name] : new_values_) edit_.rename(value, name);
    for (const auto& [node, name] : new_nodes_) edit_.rename(node, name);
    return std::move(renamed_);
  }

 private:
  std::string_view name_of(ValueId value) const { return model_.text(model_[value].name); }

  void choose_values(std::string_view what, const std::vector<std::vector<ValueId>>& scopes, const Renaming& item) {
    check_stars(item);
    const auto name = [&](ValueId value) { return name_of(value); };
    const auto take = [&](ValueId value, const std::string& to) {
      const ir::Symbol symbol = edit_.intern(to);
      const auto [known, is_new] = new_values_.emplace(value, symbol);
      if (known->second != symbol) {
        fail(ErrorCode::usage, "`{}` is given two names, `{}` and `{}`", printable(name_of(value)),
             printable(model_.text(known->second)), printable(to));
      }
      if (is_new) renamed_.push_back({std::string(what), std::string(name_of(value)), to});
    };
    if (!choose_any(scopes, item, name, take)) fail_unknown(what, scopes, item.from, name);
  }

  // A node's own name comes first; that of a result is for nodes without names, or with one that others share.
  void choose_nodes(const std::vector<std::vector<NodeId>>& scopes, const Renaming& item) {
    check_stars(item);
    const auto name = [&](NodeId node) { return model_[node].name; };
    const auto take = [&](NodeId node, const std::string& to) {
      const std::string_view kept = edit_.keep(to);
      const auto [known, is_new] = new_nodes_.emplace(node, kept);
      if (known->second != kept) {
        fail(ErrorCode::usage, "{} is given two names, `{}` and `{}`", ir::describe(model_, node),
             printable(known->second), printable(to));
      }
      if (is_new) renamed_.push_back({"node", std::string(ir::known_name(model_, node)), to});
    };
    if (!is_pattern(item)) return take(scopes_.node(item.from), item.to);
    if (!choose_any(scopes, item, name, take)) fail_unknown("node", scopes, item.from, name);
  }

  // Chooses an object with the name itself before those that fit it as a pattern.
  template <typename Id, typename Name, typename Take>
  static bool choose_any(const std::vector<std::vector<Id>>& scopes, const Renaming& item, Name&& name, Take&& take) {
    for (const std::vector<Id>& ids : scopes) {
      bool is_found = false;
      for (const Id id : ids) {
        if (!id || name(id) != item.from) continue;
        take(id, item.to);
        is_found = true;
      }
      if (is_found) return true;
      if (!is_pattern(item)) continue;
      for (const Id id : ids) {
        const std::optional<std::string_view> text = id ? starred(item.from, name(id)) : std::nullopt;
        if (!text || name(id).empty()) continue;
        std::string to = item.to;
        if (const size_t star = to.find('*'); star != std::string::npos) to.replace(star, 1, *text);
        take(id, to);
        is_found = true;
      }
      if (is_found) return true;
    }
    return false;
  }

  template <typename Id, typename Name>
  [[noreturn]] static void fail_unknown(std::string_view what, const std::vector<std::vector<Id>>& scopes,
                                        const std::string& word, Name&& name) {
    std::vector<std::string> known;
    for (const std::vector<Id>& ids : scopes) {
      for (const Id id : ids) {
        if (id) known.emplace_back(name(id));
      }
    }
    fail_unknown_name(what, word, std::move(known));
  }

  // A value may have the name of one in a sibling body, or in a function, and of no other.
  void check_clashes() const {
    std::map<ir::Symbol, std::vector<ValueId>> by_name;
    for (const auto& [value, name] : new_values_) by_name[name];
    for (const ValueId value : ir::live_values(model_)) {
      const auto found = by_name.find(final_name(value));
      if (found != by_name.end()) found->second.push_back(value);
    }
    for (const auto& [value, name] : new_values_) {
      if (model_.text(name).empty()) fail(ErrorCode::usage, "the new name of `{}` is empty", printable(name_of(value)));
      for (const ValueId other : by_name.at(name)) {
        if (other == value || !scopes_.are_nested(model_[other].graph, model_[value].graph)) continue;
        fail(ErrorCode::usage, "`{}` cannot be called `{}`: another value has that name{}", printable(name_of(value)),
             printable(model_.text(name)), model_[other].name == name ? "" : ", too, from now on");
      }
    }
  }

  // Runtimes refuse a graph with two nodes of one name.
  void check_node_clashes() const {
    std::map<std::pair<ir::GraphId, std::string_view>, NodeId> named;
    for (const auto& [node, name] : new_nodes_) {
      if (named.emplace(std::pair(model_[node].graph, name), node).second) continue;
      fail(ErrorCode::usage, "two nodes would be called `{}`", printable(name));
    }
    for (const NodeId node : ir::live_nodes(model_)) {
      const auto found = named.find({model_[node].graph, model_[node].name});
      if (found == named.end() || new_nodes_.contains(node)) continue;
      fail(ErrorCode::usage, "{} cannot be called `{}`: another node has that name",
           ir::describe(model_, found->second), printable(model_[node].name));
    }
  }

  ir::Symbol final_name(ValueId value) const {
    const auto found = new_values_.find(value);
    return found == new_values_.end() ? model_[value].name : found->second;
  }

  ir::Model& model_;
  ir::Edit edit_;
  Scopes scopes_;
  std::map<ValueId, ir::Symbol> new_values_;
  std::map<NodeId, std::string_view> new_nodes_;
  std::vector<Renamed> renamed_;
};

}  // namespace

std::vector<Renamed> rename(ir::Model& model, const Renamings& renamings) {
  Renamer renamer(model);
  renamer.choose(renamings);
  return renamer.apply();
}

}  // namespace assay::surgery
