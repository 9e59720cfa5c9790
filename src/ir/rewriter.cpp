#include "ir/rewriter.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/verify.h"

namespace assay::ir {
namespace {

std::string describe_all(const Model& model, const std::vector<NodeId>& nodes) {
  std::string text;
  for (const NodeId node : nodes) text += (text.empty() ? "" : ", ") + describe(model, node);
  return text.empty() ? "nothing" : text;
}

}  // namespace

PatchValue Patch::add(PatchNode node) {
  added_.push_back(std::move(node));
  return {added_.size() - 1, 0};
}

NodeId Rewriter::anchor_of(const Patch& patch) const {
  if (patch.anchor_) return patch.anchor_;
  NodeId last;
  for (const NodeId node : patch.removed_) {
    if (!last || model_.is_before(last, node)) last = node;
  }
  ASSAY_CHECK(last || patch.added_.empty());
  return last;
}

void Rewriter::check_order(const Patch& patch, NodeId anchor) const {
  if (patch.added_.empty()) return;
  const GraphId graph = model_[anchor].graph;
  for (const PatchNode& node : patch.added_) {
    for (const PatchValue& operand : node.operands) {
      const bool produced_here =
          operand.existing_ && model_[operand.existing_].producer && model_[operand.existing_].graph == graph;
      if (produced_here) ASSAY_CHECK(model_.is_before(model_[operand.existing_].producer, anchor));
    }
  }
  for (const Patch::Replacement& item : patch.replacements_) {
    for (const Use& use : uses(model_, item.old_value)) {
      const NodeId user = model_.ancestor_in(use.user, graph);
      ASSAY_CHECK(user && (model_[user].is_outputs || !model_.is_before(user, anchor) || !item.new_value.is_new()));
    }
  }
}

void Rewriter::check_types(const Patch& patch) const {
  for (const Patch::Replacement& item : patch.replacements_) {
    const TypeId old_type = model_[item.old_value].type;
    if (item.new_value.existing_) {
      ASSAY_CHECK(model_.types().refines(model_[item.new_value.existing_].type, old_type));
      continue;
    }
    const std::vector<TypeId>& types = patch.added_[item.new_value.node_].result_types;
    ASSAY_CHECK(item.new_value.result_ < types.size());
    const TypeId new_type = types[item.new_value.result_];
    ASSAY_CHECK(!new_type || model_.types().refines(new_type, old_type));
  }
}

ValueId Rewriter::resolve(const PatchValue& value) const {
  return value.existing_ ? value.existing_ : model_[made_[value.node_]].results[value.result_];
}

Symbol Rewriter::fresh_name(std::string_view base) {
  for (;;) {
    const std::string name = fmt::format("{}_{}", base, next_name_++);
    if (!model_.symbols().find(name)) return edit_.intern(name);
  }
}

std::vector<Symbol> Rewriter::result_names(const Patch& patch, size_t node) {
  std::vector<Symbol> names(patch.added_[node].result_types.size());
  for (const Patch::Replacement& item : patch.replacements_) {
    const bool is_mine = item.new_value.is_new() && item.new_value.node_ == node;
    const bool is_removed = std::ranges::count(patch.removed_, model_[item.old_value].producer) > 0;
    if (is_mine && is_removed) names[item.new_value.result_] = model_[item.old_value].name;
  }
  for (Symbol& name : names) {
    if (!name) name = fresh_name(patch.added_[node].op);
  }
  return names;
}

// An existing value cannot take over as an output under another name.
void Rewriter::check_outputs(const Patch& patch) const {
  for (const Patch::Replacement& item : patch.replacements_) {
    if (item.new_value.is_new()) continue;
    for (const Use& use : uses(model_, item.old_value)) ASSAY_CHECK(!model_[use.user].is_outputs);
  }
}

void Rewriter::add_nodes(const Patch& patch, NodeId anchor) {
  made_.clear();
  for (const PatchNode& item : patch.added_) {
    std::vector<ValueId> operands;
    for (const PatchValue& operand : item.operands) operands.push_back(resolve(operand));
    const std::vector<Symbol> results = result_names(patch, made_.size());
    NodeSpec spec;
    spec.op = edit_.intern(item.op);
    spec.domain = edit_.intern(item.domain);
    spec.name = edit_.keep(item.name);
    spec.operands = operands;
    spec.results = results;
    spec.attributes = item.attributes;
    const NodeId node = edit_.add_node(model_[anchor].graph, spec, anchor);
    for (size_t i = 0; i < results.size(); ++i) edit_.set_type(model_[node].results[i], item.result_types[i]);
    made_.push_back(node);
  }
}

bool Rewriter::commit(std::string_view reason, const Patch& patch) {
  if (is_done()) return false;
  const NodeId anchor = anchor_of(patch);
  check_order(patch, anchor);
  check_types(patch);
  check_outputs(patch);
  add_nodes(patch, anchor);
  for (const Patch::Replacement& item : patch.replacements_) {
    const ValueId value = resolve(item.new_value);
    if (!model_[value].type) edit_.set_type(value, model_[item.old_value].type);
    edit_.replace_uses(item.old_value, value);
    edit_.origins().replace(item.old_value, value);
  }
  for (const NodeId made : made_) edit_.origins().merge(made, patch.removed_);
  for (const NodeId removed : patch.removed_) edit_.erase(removed);
  steps_.push_back({steps_.size() + 1, reason, patch.removed_, made_});
  return true;
}

std::string Rewriter::explain(const RewriteStep& step) const {
  return fmt::format("step {}: {}: {} -> {}", step.number, step.reason, describe_all(model_, step.removed),
                     describe_all(model_, step.added));
}

}  // namespace assay::ir
