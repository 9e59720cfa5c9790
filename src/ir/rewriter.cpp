#include "ir/rewriter.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/constants.h"
#include "ir/queries.h"
#include "ir/verify.h"

namespace assay::ir {
namespace {

std::string describe_all(const Model& model, const std::vector<NodeId>& nodes) {
  std::string text;
  for (const NodeId node : nodes) text += (text.empty() ? "" : ", ") + describe(model, node);
  return text;
}

std::string quoted_name(const Model& model, ValueId value) {
  return fmt::format("`{}`", printable(model.text(model[value].name)));
}

// The operator with the name of the node, or of its first result.
std::string short_name(const Model& model, NodeId id) {
  const Node& node = model[id];
  const std::string op = printable(model.text(node.op));
  if (!node.name.empty()) return fmt::format("{} `{}`", op, printable(node.name));
  for (const ValueId result : node.results) {
    if (result) return fmt::format("{} of {}", op, quoted_name(model, result));
  }
  return op;
}

bool names_nodes(const RewriteStep& step) { return step.reason.find("{0}") != std::string_view::npos; }

std::string filled_reason(const Model& model, const RewriteStep& step) {
  std::string text(step.reason);
  for (const size_t i : {0, 1}) {
    const std::string place = fmt::format("{{{}}}", i);
    const size_t found = text.find(place);
    if (found != std::string::npos && i < step.removed.size()) {
      text.replace(found, place.size(), short_name(model, step.removed[i]));
    }
  }
  return text;
}

std::string before(const Model& model, const RewriteStep& step) {
  constexpr size_t kMostNames = 5;
  std::string text = describe_all(model, step.removed);
  const size_t count = step.removed_values.size();
  for (size_t i = 0; i < std::min(count, kMostNames); ++i) {
    text += (text.empty() ? "" : ", ") + quoted_name(model, step.removed_values[i]);
  }
  if (count > kMostNames) text += fmt::format(" and {} more value(s)", count - kMostNames);
  return text.empty() && !step.replaced.empty() ? quoted_name(model, step.replaced.front().first) : text;
}

// New nodes, or the values that take over.
std::string after(const Model& model, const RewriteStep& step) {
  std::string text = describe_all(model, step.added);
  if (!text.empty()) return text;
  for (const auto& [old_value, value] : step.replaced) text += (text.empty() ? "" : ", ") + quoted_name(model, value);
  return text.empty() ? "nothing" : text;
}

}  // namespace

PatchValue Patch::add(PatchNode node) {
  added_.push_back(std::move(node));
  return {PatchValue::Kind::node, added_.size() - 1, 0};
}

PatchValue Patch::add_constant(tensor::Tensor tensor, std::string name) {
  constants_.push_back({std::move(tensor), std::move(name)});
  return {PatchValue::Kind::constant, constants_.size() - 1, 0};
}

NodeId Rewriter::anchor_of(const Patch& patch) const {
  if (patch.anchor_) return patch.anchor_;
  NodeId last;
  for (const NodeId node : patch.removed_) {
    if (!last || model_.is_before(last, node)) last = node;
  }
  ASSAY_CHECK(last || (patch.added_.empty() && patch.constants_.empty()));
  return last;
}

void Rewriter::check_operand(const PatchValue& operand, NodeId anchor) const {
  if (!operand.existing_ || !model_[operand.existing_].producer) return;
  if (model_[operand.existing_].graph != model_[anchor].graph) return;
  ASSAY_CHECK(model_.is_before(model_[operand.existing_].producer, anchor));
}

void Rewriter::check_order(const Patch& patch, NodeId anchor) const {
  if (patch.added_.empty()) return;
  const GraphId graph = model_[anchor].graph;
  for (const PatchNode& node : patch.added_) {
    for (const PatchValue& operand : node.operands) check_operand(operand, anchor);
  }
  for (const Patch::Replacement& item : patch.replacements_) {
    if (item.new_value.kind_ != PatchValue::Kind::node) continue;
    for (const Use& use : uses(model_, item.old_value)) {
      const NodeId user = model_.ancestor_in(use.user, graph);
      ASSAY_CHECK(user && (model_[user].is_outputs || !model_.is_before(user, anchor)));
    }
  }
}

// True if the new value's type is equal or says more. A value without a type takes that of the value it replaces.
bool Rewriter::refines(ValueId new_value, ValueId old_value) const {
  const TypeId type = model_[new_value].type;
  return !type || model_.types().refines(type, model_[old_value].type);
}

void Rewriter::check_types(const Patch& patch) const {
  for (const Patch::Replacement& item : patch.replacements_) {
    const TypeId old_type = model_[item.old_value].type;
    if (!item.new_value.is_new()) ASSAY_CHECK(can_replace(item.old_value, item.new_value.existing_));
    if (item.new_value.kind_ != PatchValue::Kind::node) continue;
    const std::vector<TypeId>& types = patch.added_[item.new_value.index_].result_types;
    ASSAY_CHECK(item.new_value.result_ < types.size());
    const TypeId new_type = types[item.new_value.result_];
    ASSAY_CHECK(!new_type || model_.types().refines(new_type, old_type));
  }
}

bool Rewriter::can_be_renamed(ValueId value, GraphId graph) const {
  const Value& facts = model_[value];
  const bool is_inside = facts.kind == ValueKind::result || facts.kind == ValueKind::initializer;
  return is_inside && facts.graph == graph && !is_output(model_, value);
}

bool Rewriter::can_replace(ValueId old_value, ValueId new_value) const {
  // Types of initializers are those of their tensors.
  if (model_[new_value].kind != ValueKind::initializer && !refines(new_value, old_value)) return false;
  return !is_output(model_, old_value) || can_be_renamed(new_value, model_[old_value].graph);
}

ValueId Rewriter::resolve(const PatchValue& value) const {
  if (value.kind_ == PatchValue::Kind::existing) return value.existing_;
  if (value.kind_ == PatchValue::Kind::constant) return made_constants_[value.index_];
  return model_[made_[value.index_]].results[value.result_];
}

// The name of the value that a new one replaces, if that dies with the patch.
Symbol Rewriter::taken_name(const Patch& patch, PatchValue::Kind kind, size_t index, uint32_t result) const {
  for (const Patch::Replacement& item : patch.replacements_) {
    const PatchValue& value = item.new_value;
    const NodeId producer = model_[item.old_value].producer;
    const bool dies = std::ranges::count(patch.removed_, producer) > 0 ||
                      std::ranges::count(patch.removed_values_, item.old_value) > 0;
    if (value.kind_ == kind && value.index_ == index && value.result_ == result && dies) {
      return model_[item.old_value].name;
    }
  }
  return {};
}

void Rewriter::add_constants(const Patch& patch, NodeId anchor) {
  made_constants_.clear();
  for (const Patch::Constant& item : patch.constants_) {
    Symbol name = taken_name(patch, PatchValue::Kind::constant, made_constants_.size(), 0);
    if (!name) name = item.name.empty() ? names_.next(edit_, "constant") : fresh_name(edit_, item.name);
    const NewConstant constant = {model_[anchor].graph, name, item.tensor, anchor};
    made_constants_.push_back(add_constant(edit_, constant));
    const NodeId node = model_[made_constants_.back()].producer;
    if (node) edit_.origins().merge(node, patch.removed_);
  }
}

void Rewriter::add_nodes(const Patch& patch, NodeId anchor) {
  made_.clear();
  for (const PatchNode& item : patch.added_) {
    std::vector<ValueId> operands;
    for (const PatchValue& operand : item.operands) operands.push_back(resolve(operand));
    std::vector<Symbol> results;
    for (uint32_t i = 0; i < item.result_types.size(); ++i) {
      const Symbol name = taken_name(patch, PatchValue::Kind::node, made_.size(), i);
      results.push_back(name ? name : names_.next(edit_, item.op));
    }
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

// An output keeps its name and the type that the model declares for it.
void Rewriter::replace(const Patch::Replacement& item) {
  const ValueId value = resolve(item.new_value);
  const TypeId old_type = model_[item.old_value].type;
  const bool becomes_output = is_output(model_, item.old_value);
  const bool is_constant = model_[value].kind == ValueKind::initializer;
  if (becomes_output && !item.new_value.is_new()) edit_.rename(value, model_[item.old_value].name);
  if ((becomes_output && old_type) || (!model_[value].type && !is_constant)) edit_.set_type(value, old_type);
  edit_.replace_uses(item.old_value, value);
  edit_.origins().replace(item.old_value, value);
}

bool Rewriter::commit(std::string_view reason, const Patch& patch) {
  if (is_done()) return false;
  const NodeId anchor = anchor_of(patch);
  check_order(patch, anchor);
  check_types(patch);
  add_constants(patch, anchor);
  add_nodes(patch, anchor);
  for (const Patch::Operand& item : patch.operands_) edit_.set_operand(item.node, item.index, resolve(item.value));
  for (const Patch::Replacement& item : patch.replacements_) replace(item);
  for (const NodeId made : made_) edit_.origins().merge(made, patch.removed_);
  for (const NodeId removed : patch.removed_) edit_.erase(removed);
  if (!patch.removed_values_.empty()) edit_.erase(patch.removed_values_);
  steps_.push_back({steps_.size() + 1, reason, patch.removed_, made_, patch.removed_values_, {}});
  for (const Patch::Replacement& item : patch.replacements_) {
    steps_.back().replaced.emplace_back(item.old_value, resolve(item.new_value));
  }
  return true;
}

bool Rewriter::apply(std::string_view reason, std::span<const NodeId> changed, FunctionRef<void()> change) {
  if (steps_left() < std::max<size_t>(changed.size(), 1)) return false;
  const uint32_t first_made = model_.node_slots();
  change();
  std::vector<NodeId> added;
  for (uint32_t i = first_made; i < model_.node_slots(); ++i) {
    const NodeId made{i};
    if (!model_[made].alive) continue;
    if (edit_.origins().of(made) == std::vector<NodeId>{made}) edit_.origins().merge(made, {});
    added.push_back(made);
  }
  for (const NodeId node : changed) record(reason, node);
  if (changed.empty()) record(reason);
  steps_.back().added = std::move(added);
  return true;
}

bool Rewriter::record(std::string_view reason) {
  if (is_done()) return false;
  steps_.push_back({steps_.size() + 1, reason, {}, {}, {}, {}});
  return true;
}

bool Rewriter::record(std::string_view reason, NodeId changed) {
  if (!record(reason)) return false;
  steps_.back().changed = changed;
  return true;
}

void Rewriter::record(std::string_view reason, NodeId removed, std::vector<NodeId> added) {
  ASSAY_CHECK(!is_done());
  for (const NodeId node : added) edit_.origins().merge(node, {removed});
  steps_.push_back({steps_.size() + 1, reason, {removed}, std::move(added), {}, {}});
}

std::string Rewriter::explain(const RewriteStep& step) const {
  if (names_nodes(step)) return fmt::format("step {}: {}", step.number, filled_reason(model_, step));
  const std::string old = before(model_, step);
  const std::string head = fmt::format("step {}: {}", step.number, step.reason);
  if (step.changed) return fmt::format("{}: {}", head, describe(model_, step.changed));
  return old.empty() ? head : fmt::format("{}: {} -> {}", head, old, after(model_, step));
}

}  // namespace assay::ir
