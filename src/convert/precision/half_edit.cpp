#include "convert/precision/half_edit.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include <fmt/format.h>

#include "convert/precision/float_values.h"
#include "convert/precision/half_storage.h"
#include "ir/constants.h"
#include "ir/naming.h"
#include "ir/queries.h"
#include "passes/handing_on.h"
#include "tensor/convert.h"

namespace assay::convert {
namespace {

using tensor::DType;
using tensor::Tensor;

struct Place {
  ir::NodeId user;
  uint32_t index;
};

class HalfEditor {
 public:
  HalfEditor(ir::Model& model, ir::Edit& edit, const HalfOptions& options, const HalfPlan& plan)
      : model_(model), edit_(edit), half_(options.half), clamps_(options.clamps()), plan_(plan) {
    for (uint32_t i = 0; i < model.graph_slots(); ++i) first_.push_back(model[ir::GraphId{i}].first);
  }

  HalfEdits apply() {
    find_casts();
    const uint32_t values = model_.value_slots();
    for (uint32_t i = 0; i < values; ++i) {
      if (plan_.is_float[i]) convert(ir::ValueId{i});
    }
    for (const TypedNode& typed : plan_.typed) set_result_type(typed);
    remove_casts();
    return edits_;
  }

 private:
  bool is_main_output(ir::NodeId user) const { return user == model_[model_.main_graph()].outputs_node; }
  bool is_wide(ir::ValueId value) const { return value.index < plan_.is_wide.size() && plan_.is_wide[value.index]; }
  DType dtype(bool is_half) const { return is_half ? half_ : DType::float32; }

  // Casts that are there; those that are added here are none of them.
  void find_casts() {
    for (const TypedNode& typed : plan_.typed) {
      const ir::Node& node = model_[typed.node];
      const bool is_whole = !node.operands.empty() && node.operands[0].value && !node.results.empty();
      if (typed.attribute == "to" && is_whole && node.results[0]) casts_[node.results[0]] = typed.node;
    }
  }

  void convert(ir::ValueId value) {
    const bool is_half = plan_.is_half[value.index];
    std::vector<Place> others;
    for (const ir::Use& use : ir::uses(model_, value)) {
      const Wanted wanted = plan_.want(use);
      const bool fits = wanted == Wanted::either || (wanted == Wanted::half) == is_half;
      if (!fits) others.push_back({use.user, use.index});
    }
    const std::optional<Tensor> constant = float_constant(model_, value, dtype(plan_.was_half[value.index]));
    const bool is_changed = plan_.changes(value);
    if (is_changed && constant) set_constant(value, *constant);
    if (is_changed && !constant) convert_default(value);
    const ir::TypeId old_type = model_[value].type;
    if (is_changed && old_type) edit_.set_type(value, retyped(old_type, dtype(is_half)));
    if (!others.empty()) redirect(value, constant, others);
  }

  // Gives these uses the value in the other type.
  void redirect(ir::ValueId value, const std::optional<Tensor>& constant, const std::vector<Place>& places) {
    const bool to_half_type = !plan_.is_half[value.index];
    const ir::ValueId source = source_of(value, to_half_type);
    ir::ValueId other;
    for (const Place& place : places) {
      if (source && !model_[place.user].is_outputs) {
        edit_.set_operand(place.user, place.index, source);
        continue;
      }
      if (!other && constant) other = add_constant(value, *constant, to_half_type);
      if (!other) other = add_cast(is_wide(value) ? add_clip(value) : value, to_half_type);
      edit_.set_operand(place.user, place.index, other);
    }
    const auto is_output = [this](const Place& place) { return is_main_output(place.user); };
    if (std::ranges::any_of(places, is_output)) hand_on_name(value, other);
  }

  // The value that an existing Cast makes this one of, if that is of the other type by then; invalid: none.
  ir::ValueId source_of(ir::ValueId value, bool is_half) const {
    const auto cast = casts_.find(value);
    if (cast == casts_.end()) return {};
    const ir::ValueId from = model_[cast->second].operands[0].value;
    return ends_as(from) == dtype(is_half) ? from : ir::ValueId{};
  }

  // Undefined: the plan does not say.
  DType ends_as(ir::ValueId value) const {
    if (plan_.is_float[value.index]) return dtype(plan_.is_half[value.index]);
    return plan_.was_half[value.index] ? half_ : DType::undefined;
  }

  ir::TypeId retyped(ir::TypeId id, DType dtype) {
    if (!id) return id;
    ir::Type type = model_[id];
    type.dtype = dtype;
    return model_.types().intern(std::move(type));
  }

  ir::Symbol fresh_name(ir::ValueId value, std::string_view what) {
    return ir::fresh_name(edit_, fmt::format("{}_{}", model_.text(model_[value].name), what));
  }
  ir::Symbol fresh_name(ir::ValueId value, bool is_half) { return fresh_name(value, tensor::name(dtype(is_half))); }

  // An output keeps its name, whatever stands behind it.
  void hand_on_name(ir::ValueId old_value, ir::ValueId new_value) {
    const ir::Symbol name = model_[old_value].name;
    edit_.rename(old_value, fresh_name(old_value, plan_.is_half[old_value.index]));
    edit_.rename(new_value, name);
  }

  ir::NodeId node_after(ir::ValueId value) const {
    const ir::Value& facts = model_[value];
    return facts.producer ? model_[facts.producer].next : first_[facts.graph.index];
  }

  ir::ValueId add_cast(ir::ValueId value, bool is_half) {
    ++edits_.casts_added;
    const passes::HandedOn place = {model_[value].graph, value, fresh_name(value, is_half), node_after(value)};
    return named(passes::add_cast(edit_, place, dtype(is_half)), dtype(is_half));
  }

  // Clips a value that bfloat16 would make infinite to its largest number.
  ir::ValueId add_clip(ir::ValueId value) {
    const float largest = largest_half(half_);
    const ir::NodeId before = node_after(value);
    const auto number = [&](std::string_view what, float bound) {
      Tensor tensor = tensor::make_tensor<float>(DType::float32, {}, {&bound, 1});
      const ir::NewConstant constant = {model_[value].graph, fresh_name(value, what), std::move(tensor), before};
      return model_[ir::add_constant_node(edit_, constant)].results[0];
    };
    const std::array operands = {value, number("least", -largest), number("greatest", largest)};
    return add_node({.op = edit_.intern("Clip"), .operands = operands}, fresh_name(value, "clipped"), DType::float32,
                    before);
  }

  // A node with one result.
  ir::ValueId add_node(ir::NodeSpec spec, ir::Symbol result_name, DType dtype, ir::NodeId before) {
    spec.results = {&result_name, 1};
    return named(edit_.add_node(model_[spec.operands[0]].graph, spec, before), dtype);
  }

  // The result of a node that was made.
  ir::ValueId named(ir::NodeId node, DType dtype) {
    const ir::ValueId result = model_[node].results[0];
    edit_.rename(node, fmt::format("{}_{}", model_.text(model_[node].op), model_.text(model_[result].name)));
    edit_.set_type(result, retyped(model_[model_[node].operands[0].value].type, dtype));
    return result;
  }

  Tensor converted(const Tensor& weight) {
    ++edits_.weights;
    edits_.weight_bytes_before += weight.size_bytes();
    Tensor other = in_other_type(weight);
    edits_.weight_bytes_after += other.size_bytes();
    return other;
  }

  Tensor in_other_type(const Tensor& tensor) const {
    return tensor.dtype() == half_ ? tensor::converted(tensor, DType::float32) : to_half(tensor, half_, clamps_);
  }

  ir::Attribute tensor_attribute(Tensor tensor) { return ir::tensor_attribute(edit_, "value", std::move(tensor)); }

  void set_constant(ir::ValueId value, const Tensor& weight) {
    const ir::Value& facts = model_[value];
    if (facts.constant) return edit_.set_tensor(facts.constant, converted(weight));
    const std::array attributes = {tensor_attribute(converted(weight))};
    edit_.set_attributes(facts.producer, attributes);
  }

  // Converts the default of an input that changes with the interface.
  void convert_default(ir::ValueId value) {
    const ir::Value& facts = model_[value];
    if (facts.kind != ir::ValueKind::input || !facts.constant) return;
    const Tensor given = model_[facts.constant].tensor;
    if (given.dtype() == dtype(plan_.was_half[value.index])) edit_.set_tensor(facts.constant, converted(given));
  }

  // A second constant beside the one that keeps its type; invalid where there can be none.
  ir::ValueId add_constant(ir::ValueId value, const Tensor& weight, bool is_half) {
    if (plan_.changes(value)) return {};
    const ir::Value& facts = model_[value];
    if (facts.kind == ir::ValueKind::input) return {};
    const bool is_node = facts.kind == ir::ValueKind::result;
    constexpr int64_t kFirstWithoutInputs = 4;
    if (!is_node && model_.header().ir_version < kFirstWithoutInputs) return {};
    const ir::Symbol name = fresh_name(value, is_half);
    if (!is_node) return ir::add_initializer(edit_, {facts.graph, name, converted(weight)});
    return model_[ir::add_constant_node(edit_, {facts.graph, name, converted(weight), node_after(value)})].results[0];
  }

  void set_result_type(const TypedNode& typed) {
    const ir::Node& node = model_[typed.node];
    const ir::ValueId result = node.results.empty() ? ir::ValueId{} : node.results[0];
    if (!result || !plan_.changes(result)) return;
    if (typed.attribute == "value") {
      edit_.set_attribute(typed.node, tensor_attribute(fill_of(model_.find_attribute(node, typed.attribute))));
    } else {
      const DType type = dtype(plan_.is_half[result.index]);
      edit_.set_attribute(typed.node, ir::Attribute::of(edit_.intern(typed.attribute), static_cast<int64_t>(type)));
    }
  }

  Tensor fill_of(const ir::Attribute* old) const {
    constexpr float kZero = 0;
    if (old) return in_other_type(model_[old->tensors()[0]].tensor);
    return in_other_type(tensor::make_tensor<float>(DType::float32, {1}, {&kZero, 1}));
  }

  // Casts between values that are of one type by now, and those that nothing uses any more.
  void remove_casts() {
    for (const TypedNode& typed : plan_.typed) {
      const ir::NodeId node = typed.node;
      const ir::ValueId result = model_[node].results.empty() ? ir::ValueId{} : model_[node].results[0];
      if (!casts_.contains(result)) continue;
      const ir::ValueId from = model_[node].operands[0].value;
      if (from.index >= plan_.is_float.size()) continue;  // made by this edit
      const bool is_changed = plan_.changes(result) || plan_.changes(from);
      const bool is_equal = is_changed && ends_as(result) == ends_as(from);
      if (is_equal && !ir::is_output(model_, result)) {
        edit_.replace_uses(result, from);
        edit_.origins().replace(result, from);
      }
      const bool was_bypassed = plan_.is_float[result.index] && ends_as(from) != DType::undefined;
      if (model_[result].first_use || !(is_equal || was_bypassed)) continue;
      edit_.erase(node);
      ++edits_.casts_removed;
    }
  }

  ir::Model& model_;
  ir::Edit& edit_;
  DType half_;
  bool clamps_;
  const HalfPlan& plan_;
  std::vector<ir::NodeId> first_;                      // by graph: its first node before anything was added
  std::unordered_map<ir::ValueId, ir::NodeId> casts_;  // by result
  HalfEdits edits_;
};

}  // namespace

bool changes_model(const ir::Model& model, const HalfPlan& plan) {
  for (uint32_t i = 0; i < plan.is_float.size(); ++i) {
    if (!plan.is_float[i]) continue;
    if (plan.is_half[i]) return true;
    for (const ir::Use& use : ir::uses(model, ir::ValueId{i})) {
      if (plan.want(use) == Wanted::half) return true;
    }
  }
  return false;
}

HalfEdits apply_half(ir::Model& model, ir::Edit& edit, const HalfOptions& options, const HalfPlan& plan) {
  return HalfEditor(model, edit, options, plan).apply();
}

}  // namespace assay::convert
