#include "convert/precision/half_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "convert/precision/argument_groups.h"
#include "convert/precision/control_flow.h"
#include "convert/precision/float_values.h"
#include "convert/precision/half_rules.h"
#include "convert/precision/typed_by_attribute.h"
#include "convert/precision/wide_values.h"
#include "ir/queries.h"
#include "ops/traits.h"

namespace assay::convert {
namespace {

using tensor::DType;

// A node that may count as a layer, and the reason why it stays float32.
struct Outcome {
  bool is_layer = true;
  std::string reason = {};
};

class HalfPlanner {
 public:
  HalfPlanner(const ir::Model& model, const HalfOptions& options, Diagnostics& findings)
      : model_(model),
        options_(options),
        half_(schema::set_of(options.half)),
        floats_(model, options.half),
        rules_(model, options, floats_, findings),
        open_(model.value_slots()) {
    plan_.wanted.resize(model.node_slots());
    plan_.is_half.resize(model.value_slots());
    plan_.is_float.resize(model.value_slots());
    plan_.was_half.resize(model.value_slots());
  }

  HalfPlan plan() {
    find_values();
    plan_interface();
    for (const ir::NodeId node : floats_.nodes) plan_node(node);
    settle_open_values();
    plan_.is_wide = options_.half == DType::bfloat16 ? find_wide_values(model_, floats_, plan_)
                                                     : std::vector<bool>(model_.value_slots());
    return std::move(plan_);
  }

 private:
  bool is_float(ir::ValueId value) const { return value && plan_.is_float[value.index]; }

  void find_values() {
    for (uint32_t i = 0; i < model_.value_slots(); ++i) {
      const ir::ValueId value{i};
      plan_.is_float[i] = model_[value].alive && floats_.holds[i] == Holds::float32;
      plan_.was_half[i] = floats_.holds[i] == Holds::half;
      open_[i] = plan_.is_float[i] && float_constant(model_, value).has_value();
    }
  }

  void plan_interface() {
    if (options_.keeps_interface) return;
    const ir::Graph& graph = model_[model_.main_graph()];
    for (const ir::ValueId input : graph.inputs) {
      plan_.is_half[input.index] = is_float(input) && !open_[input.index] && !rules_.is_exact(input);
    }
    std::vector<Wanted>& wanted = plan_.wanted[graph.outputs_node.index];
    for (const ir::Use& use : model_.outputs(model_.main_graph())) {
      wanted.push_back(is_float(use.value) ? Wanted::half : Wanted::float32);
    }
  }

  void plan_node(ir::NodeId id) {
    const ir::Node& node = model_[id];
    const ops::Callee& callee = floats_.callees[id];
    const bool is_constant = callee.schema && !callee.function && ir::is_constant_node(model_, id);
    rules_.note_sources(id);
    const auto is_float_result = [this](ir::ValueId value) { return is_float(value); };
    const auto is_float_operand = [this](const ir::Use& use) { return is_float(use.value); };
    const bool is_touched =
        std::ranges::any_of(node.results, is_float_result) || std::ranges::any_of(node.operands, is_float_operand);
    if (!is_touched || is_constant) return;
    Outcome outcome = {.reason = rules_.reason_to_stay(id)};
    if (outcome.reason.empty()) outcome = convert(id);
    if (!outcome.is_layer) return;
    plan_.layers.push_back(make_layer(model_, id, std::move(outcome.reason)));
  }

  bool is_constant(ir::ValueId value) const { return float_constant(model_, value).has_value(); }

  // Enters into the plan what becomes half; the reason if nothing does.
  Outcome convert(ir::NodeId id) {
    const schema::Schema& schema = *floats_.callees[id].schema;
    if (!model_.bodies(model_[id]).empty()) return convert_control_flow(id);
    if (!type_attribute(schema).empty()) return convert_typed(id, schema);
    const std::vector<ArgumentGroup> groups = argument_groups(model_[id], schema);
    if (std::ranges::any_of(groups, [&](const ArgumentGroup& group) { return is_loose(id, group); })) {
      return {.reason = "nothing ties the type of a result to its operands"};
    }
    std::vector<bool> is_half(groups.size());
    for (size_t i = 0; i < groups.size(); ++i) is_half[i] = !groups[i].results.empty() && may_convert(id, groups[i]);
    const bool has_results = std::ranges::count(is_half, true) > 0;
    for (size_t i = 0; i < groups.size(); ++i) {
      if (!groups[i].results.empty() || !may_convert(id, groups[i])) continue;
      // Backends that know such an operator by its definition want one type throughout.
      const bool is_strict = schema.has_body && has_results;
      is_half[i] = is_strict || (groups[i].operands.size() > 1 && joins(id, groups[i], has_results));
    }
    if (std::string reason = too_large(id, groups, is_half); !reason.empty()) return {.reason = std::move(reason)};
    std::vector<Wanted> wanted(model_[id].operands.size(), Wanted::float32);
    for (size_t i = 0; i < groups.size(); ++i) enter(id, groups[i], is_half[i], wanted);
    plan_.wanted[id.index] = std::move(wanted);
    if (std::ranges::count(is_half, true) > 0) return {};
    const bool has_float_result =
        std::ranges::any_of(model_[id].results, [this](ir::ValueId value) { return is_float(value); });
    return {.is_layer = has_float_result,
            .reason = fmt::format("`{}` is not defined for {}", schema.name, tensor::name(options_.half))};
  }

  bool admits(const schema::TypeSet& types) const { return (types.tensors & half_) != 0; }

  // A result that might become half, and no operand to say so.
  bool is_loose(ir::NodeId id, const ArgumentGroup& group) const {
    if (!group.operands.empty() || !admits(*group.types)) return false;
    return std::ranges::any_of(group.results, [&](uint32_t i) { return is_float(model_[id].results[i]); });
  }

  // True if every argument is float32 and may be half.
  bool may_convert(ir::NodeId id, const ArgumentGroup& group) const {
    const ir::Node& node = model_[id];
    if (group.operands.empty() || !admits(*group.types)) return false;
    const auto operand = [&](uint32_t i) { return is_float(node.operands[i].value); };
    const auto result = [&](uint32_t i) { return is_float(node.results[i]); };
    return std::ranges::all_of(group.operands, operand) && std::ranges::all_of(group.results, result);
  }

  // True if operands that are compared with each other become half: they are so anyway, and lose nothing by it.
  bool joins(ir::NodeId id, const ArgumentGroup& group, bool has_results) const {
    bool has_half = false;
    bool has_float32 = false;
    for (const uint32_t i : group.operands) {
      const ir::ValueId value = model_[id].operands[i].value;
      if (is_constant(value)) continue;
      const bool is_half = plan_.is_half[value.index];
      has_half = has_half || is_half;
      has_float32 = has_float32 || !is_half;
    }
    return !has_float32 && (has_half || has_results);
  }

  void enter(ir::NodeId id, const ArgumentGroup& group, bool is_half, std::vector<Wanted>& wanted) {
    const ir::Node& node = model_[id];
    const bool is_single = group.results.empty() && group.operands.size() == 1 && admits(*group.types);
    for (const uint32_t i : group.operands) {
      if (is_float(node.operands[i].value)) {
        wanted[i] = is_half ? Wanted::half : is_single ? Wanted::either : Wanted::float32;
      }
    }
    for (const uint32_t i : group.results) plan_.is_half[node.results[i].index] = is_half;
  }

  Outcome convert_typed(ir::NodeId id, const schema::Schema& schema) {
    const ir::Node& node = model_[id];
    std::vector<Wanted> wanted;
    for (uint32_t i = 0; i < node.operands.size(); ++i) {
      const schema::ArgumentSchema* argument = schema.input(i);
      wanted.push_back(argument && admits(argument->types) ? Wanted::either : Wanted::float32);
    }
    plan_.wanted[id.index] = std::move(wanted);
    plan_.typed.push_back({id, type_attribute(schema)});
    for (uint32_t i = 0; i < node.results.size(); ++i) {
      const schema::ArgumentSchema* argument = schema.output(i);
      const bool is_able = argument && admits(argument->types) && has_plain_type(node, schema);
      if (is_float(node.results[i]) && is_able) open_[node.results[i].index] = true;
    }
    return {.is_layer = false};
  }

  // True if the attribute is as its operator wants it, and 16 bits can hold it.
  bool has_plain_type(const ir::Node& node, const schema::Schema& schema) const {
    const ir::Attribute* attribute = model_.find_attribute(node, type_attribute(schema));
    const schema::AttributeSchema* declared = schema.find_attribute(type_attribute(schema));
    if (!attribute) return declared && !declared->required;
    if (attribute->is_reference()) return false;
    if (declared && declared->type == ir::AttributeType::integer) return attribute->type() == declared->type;
    if (attribute->type() != ir::AttributeType::tensor) return false;
    const ir::TensorEntry& entry = model_[attribute->tensors()[0]];
    if (entry.sparse || entry.tensor.dtype() != tensor::DType::float32) return false;
    return options_.clamps() || survey(entry.tensor).overflows == 0;
  }

  Outcome convert_control_flow(ir::NodeId id) {
    const std::vector<TypeTie> ties = control_flow_ties(model_, id, floats_.callees[id].version);
    bool is_converted = false;
    for (const TypeTie& tie : ties) {
      if (!may_convert(id, tie)) continue;
      for (const ir::ValueId value : tie.values) plan_.is_half[value.index] = true;
      for (const TypeTie::Place& place : tie.uses) {
        std::vector<Wanted>& wanted = plan_.wanted[place.user.index];
        wanted.resize(model_[place.user].operands.size(), Wanted::float32);
        wanted[place.index] = Wanted::half;
      }
      is_converted = true;
    }
    if (is_converted) return {};
    const bool is_known = ops::traits(model_, id).is(ops::Nature::control);
    return {.reason = is_known ? "what it passes on does not fit" : "its body keeps its types"};
  }

  bool may_convert(ir::NodeId id, const TypeTie& tie) {
    const schema::ArgumentSchema* argument = floats_.callees[id].schema->output(0);
    if (!argument || !admits(argument->types)) return false;
    for (const ir::ValueId value : tie.values) {
      if (!is_float(value) || rules_.is_exact(value)) return false;
    }
    for (const TypeTie::Place& place : tie.uses) {
      const ir::ValueId value = model_[place.user].operands[place.index].value;
      if (!is_float(value) || (is_constant(value) && overflows(value))) return false;
    }
    return !tie.values.empty();
  }

  std::string too_large(ir::NodeId id, const std::vector<ArgumentGroup>& groups, const std::vector<bool>& is_half) {
    for (size_t i = 0; i < groups.size(); ++i) {
      if (!is_half[i]) continue;
      for (const uint32_t k : groups[i].operands) {
        const ir::ValueId value = model_[id].operands[k].value;
        if (!is_constant(value) || !overflows(value)) continue;
        return fmt::format("its weight `{}` has numbers up to {:.3g}", printable(model_.text(model_[value].name)),
                           plan_.weights.at(value).largest);
      }
    }
    return {};
  }

  // True if the constant must stay as it is; its outcome is found out once.
  bool overflows(ir::ValueId value) {
    auto found = plan_.weights.find(value);
    if (found == plan_.weights.end()) {
      const std::optional<tensor::Tensor> constant = float_constant(model_, value);
      found = plan_.weights.emplace(value, survey(*constant)).first;
    }
    return found->second.overflows > 0 && !options_.clamps();
  }

  HalfSurvey survey(const tensor::Tensor& constant) const {
    if (!constant.storage()) return {};
    const tensor::Bytes pattern = constant.storage()->fill_pattern();
    const HalfSurvey found = survey_floats(options_.half, pattern.empty() ? constant.bytes() : pattern);
    constant.storage()->release();
    return found;
  }

  // Constants and results whose type an attribute says are made in the type that all uses want.
  void settle_open_values() {
    for (uint32_t i = 0; i < open_.size(); ++i) {
      if (!open_[i]) continue;
      bool wants_half = false;
      bool wants_float32 = false;
      for (const ir::Use& use : ir::uses(model_, ir::ValueId{i})) {
        wants_half = wants_half || plan_.want(use) == Wanted::half;
        wants_float32 = wants_float32 || plan_.want(use) == Wanted::float32;
      }
      plan_.is_half[i] = wants_half && !wants_float32;
    }
  }

  const ir::Model& model_;
  const HalfOptions& options_;
  schema::DTypeSet half_;
  FloatModel floats_;
  HalfRules rules_;
  std::vector<bool> open_;  // by value: made in either type
  HalfPlan plan_;
};

void tell_kept(const std::vector<Layer>& layers, std::string_view reason, Diagnostics& findings) {
  const auto first = std::ranges::find(layers, reason, &Layer::reason);
  if (first == layers.end()) return;
  findings.add({Severity::info, "kept_float32", first->name,
                fmt::format("{} node(s) stay float32, `{}` first: {}",
                            std::ranges::count(layers, reason, &Layer::reason), printable(first->name), reason)});
}

}  // namespace

HalfPlan plan_half(const ir::Model& model, const HalfOptions& options, Diagnostics& findings) {
  HalfPlan plan = HalfPlanner(model, options, findings).plan();
  for (const std::string_view reason : exact_reasons()) tell_kept(plan.layers, reason, findings);
  return plan;
}

}  // namespace assay::convert
