#include "ir/selection.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/named_results.h"
#include "ir/queries.h"

namespace assay::ir {
namespace {

bool is_named_by(std::string_view pattern, std::string_view name) {
  return name == pattern || matches_glob(pattern, name);
}

bool is_pattern(std::string_view name) { return name.find_first_of("*?[") != std::string_view::npos; }

class Selector {
 public:
  Selector(const Model& model, Diagnostics& findings) : model_(model), findings_(findings) {
    const Graph& graph = model[model.main_graph()];
    for (const ValueId input : graph.inputs) candidates_.push_back(input);
    for (const NodeId node : nodes(model, model.main_graph())) add_results(node);
  }

  void take_everything() {
    for (const ValueId value : results_) take(value);
  }

  void take_own_outputs() {
    for (const Use& use : model_.outputs(model_.main_graph())) {
      if (use.value.valid()) take(use.value);
    }
  }

  void take_names(const std::string& wanted) {
    if (!is_pattern(wanted)) return take_name(wanted);
    bool has_found = false;
    for (const ValueId value : candidates_) {
      const bool fits = name_of(value) == wanted || matches_glob(wanted, name_of(value));
      if (fits) take(value);
      has_found = has_found || fits;
    }
    if (has_found) return;
    findings_.warn("output_pattern", wanted, fmt::format("no value of the model matches `{}`", printable(wanted)));
  }

  void take_type(const std::string& type) {
    bool has_found = false;
    std::set<std::string> known;
    for (const ValueId value : results_) {
      const std::string op(model_.text(model_[model_[value].producer].op));
      known.insert(op);
      const bool fits = to_lower(op) == to_lower(type);
      if (fits) take(value);
      has_found = has_found || fits;
    }
    if (has_found) return;
    const std::vector<std::string> words(known.begin(), known.end());
    const std::optional<std::string> near = did_you_mean(type, words);
    fail(ErrorCode::usage, "the model has no node of the type `{}`{}", printable(type),
         near ? fmt::format("; did you mean `{}`?", *near) : "");
  }

  void drop(const std::string& unwanted) {
    const auto is_it = [&](ValueId value) { return is_named_by(unwanted, name_of(value)); };
    std::erase_if(taken_, is_it);
    if (std::ranges::any_of(candidates_, is_it)) return;
    findings_.warn("output_pattern", unwanted,
                   fmt::format("`{}` excludes nothing: the model has no such value", printable(unwanted)));
  }

  void take_name(const std::string& wanted) {
    if (by_name_.empty()) {
      for (const ValueId value : candidates_) by_name_[name_of(value)].push_back(value);
    }
    const auto found = by_name_.find(wanted);
    if (found == by_name_.end()) return take_results(wanted);
    for (const ValueId value : found->second) take(value);
  }

  // A node's name means its results.
  void take_results(const std::string& node) {
    const std::vector<ValueId> results = named_results(model_, model_.main_graph(), node);
    if (results.empty()) fail_unknown(node);
    for (const ValueId value : results) take(value);
  }

  std::vector<ValueId> selected() {
    if (taken_.empty()) fail(ErrorCode::usage, "no output is left to be computed");
    return std::move(taken_);
  }

 private:
  std::string_view name_of(ValueId value) const { return model_.text(model_[value].name); }

  void add_results(NodeId id) {
    const Node& node = model_[id];
    const bool is_constant = is_constant_node(model_, id);
    for (const ValueId value : node.results) {
      if (!value.valid() || name_of(value).empty()) continue;
      candidates_.push_back(value);
      if (!is_constant) results_.push_back(value);
    }
  }

  void take(ValueId value) {
    if (seen_.insert(value.index).second) taken_.push_back(value);
  }

  [[noreturn]] void fail_unknown(const std::string& wanted) const {
    std::vector<std::string> names;
    for (const ValueId value : candidates_) names.emplace_back(name_of(value));
    const std::optional<std::string> near = did_you_mean(wanted, names);
    fail(ErrorCode::usage, "the model has no value `{}`{}", printable(wanted),
         near ? fmt::format("; did you mean `{}`?", printable(*near)) : "");
  }

  const Model& model_;
  Diagnostics& findings_;
  std::vector<ValueId> candidates_;
  std::unordered_map<std::string_view, std::vector<ValueId>> by_name_;  // of the candidates
  std::vector<ValueId> results_;
  std::vector<ValueId> taken_;
  std::set<uint32_t> seen_;
};

}  // namespace

bool is_excluded(const OutputSelection& selection, std::string_view name) {
  return std::ranges::any_of(selection.excluded, [&](const std::string& one) { return is_named_by(one, name); });
}

std::vector<ValueId> select_outputs(const Model& model, const OutputSelection& selection, Diagnostics& findings) {
  Selector selector(model, findings);
  if (selection.is_everything) selector.take_everything();
  for (const std::string& name : selection.names) selector.take_names(name);
  for (const std::string& type : selection.op_types) selector.take_type(type);
  if (!selection.is_everything && selection.names.empty() && selection.op_types.empty()) selector.take_own_outputs();
  for (const std::string& name : selection.excluded) selector.drop(name);
  for (const std::string& name : selection.debugged) selector.take_name(name);
  return selector.selected();
}

}  // namespace assay::ir
