#include "convert/precision/widen_layers.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "convert/precision/argument_groups.h"
#include "convert/precision/float_values.h"
#include "convert/precision/typed_by_attribute.h"
#include "ir/queries.h"
#include "ir/walk.h"

namespace assay::convert {
namespace {

using tensor::DType;

// For the layers with values of one 16-bit type.
class WideningPlanner {
 public:
  WideningPlanner(const ir::Model& model, DType half, const FloatModel& floats, const std::vector<bool>& named)
      : model_(model), half_(half), floats_(floats), named_(named), widened_(model.node_slots()) {
    plan_.wanted.resize(model.node_slots());
  }

  HalfPlan plan(uint64_t most) {
    for (const ir::NodeId node : floats_.nodes) plan_node(node, most);
    for (uint32_t i = 0; i < model_.value_slots(); ++i) plan_value(ir::ValueId{i});
    return std::move(plan_);
  }

 private:
  bool holds(ir::ValueId value, Holds what) const { return value && floats_.holds[value.index] == what; }

  bool touches(ir::NodeId id, Holds what) const {
    const ir::Node& node = model_[id];
    return std::ranges::any_of(node.operands, [&](const ir::Use& use) { return holds(use.value, what); }) ||
           std::ranges::any_of(node.results, [&](ir::ValueId value) { return holds(value, what); });
  }

  void plan_node(ir::NodeId id, uint64_t most) {
    const schema::Schema* const schema = floats_.callees[id].schema;
    if (schema && !type_attribute(*schema).empty()) plan_.typed.push_back({id, type_attribute(*schema)});
    const bool is_named = id.index < named_.size() && named_[id.index];
    if (!is_named || !touches(id, Holds::half)) return;
    std::string reason = reason_to_stay(id);
    if (reason.empty() && converted_nodes(plan_.layers).size() >= most) reason = "it comes after the last step";
    widened_[id.index] = reason.empty();
    plan_.layers.push_back(make_layer(model_, id, std::move(reason)));
  }

  std::string reason_to_stay(ir::NodeId id) const {
    const ops::Callee& callee = floats_.callees[id];
    if (callee.function) return "it calls a function of the model";
    if (!callee.schema) return "its operator is not known";
    if (!model_.bodies(model_[id]).empty()) return "its body keeps its types";
    if (touches(id, Holds::list)) return "sequences and optionals keep their types";
    if (touches(id, Holds::unknown)) return "the types of its values are not known";
    if (!type_attribute(*callee.schema).empty()) return {};
    for (const ArgumentGroup& group : argument_groups(model_[id], *callee.schema)) {
      if (!has_half(model_[id], group)) continue;
      if (group.operands.empty()) return "nothing ties the type of a result to its operands";
      if ((group.types->tensors & schema::set_of(DType::float32)) == 0)
        return fmt::format("`{}` is not defined for float32", callee.schema->name);
    }
    return {};
  }

  bool has_half(const ir::Node& node, const ArgumentGroup& group) const {
    return std::ranges::any_of(group.operands,
                               [&](uint32_t i) { return holds(node.operands[i].value, Holds::half); }) ||
           std::ranges::any_of(group.results, [&](uint32_t i) { return holds(node.results[i], Holds::half); });
  }

  void plan_value(ir::ValueId value) {
    const bool was_half = model_[value].alive && holds(value, Holds::half);
    const bool is_of_layer = model_[value].kind == ir::ValueKind::result && widened_[model_[value].producer.index];
    plan_.was_half.push_back(was_half);
    plan_.is_float.push_back(model_[value].alive && (was_half || holds(value, Holds::float32)));
    plan_.is_half.push_back(was_half && !is_of_layer);
    if (!was_half) return;
    bool wants_half = false;
    bool wants_float32 = false;
    for (const ir::Use& use : ir::uses(model_, value)) {
      const Wanted wanted = enter(use);
      wants_half = wants_half || wanted == Wanted::half;
      wants_float32 = wants_float32 || wanted == Wanted::float32;
    }
    const bool is_for_layers = wants_float32 && !wants_half;
    if (is_for_layers && float_constant(model_, value, half_)) plan_.is_half.back() = false;
  }

  // Enters a use of a half value. Casts take either type.
  Wanted enter(const ir::Use& use) {
    const schema::Schema* const schema = model_[use.user].is_outputs ? nullptr : floats_.callees[use.user].schema;
    const bool is_cast = schema && type_attribute(*schema) == "to";
    const Wanted wanted = is_cast ? Wanted::either : widened_[use.user.index] ? Wanted::float32 : Wanted::half;
    std::vector<Wanted>& all = plan_.wanted[use.user.index];
    all.resize(model_[use.user].operands.size(), Wanted::float32);
    all[use.index] = wanted;
    return wanted;
  }

  const ir::Model& model_;
  DType half_;
  const FloatModel& floats_;
  const std::vector<bool>& named_;
  std::vector<bool> widened_;  // by node
  HalfPlan plan_;
};

void add(const HalfEdits& edits, HalfEdits& sum) {
  sum.casts_added += edits.casts_added;
  sum.casts_removed += edits.casts_removed;
  sum.weights += edits.weights;
  sum.weight_bytes_before += edits.weight_bytes_before;
  sum.weight_bytes_after += edits.weight_bytes_after;
}

}  // namespace

WideningReport widen_layers(ir::Model& model, ir::Rewriter& rewriter, const std::vector<std::string>& names,
                            Diagnostics& findings) {
  WideningReport report;
  if (names.empty()) return report;
  std::vector<ir::NodeId> all;
  for (const ir::NodeId node : ir::live_nodes(model)) all.push_back(node);
  const std::vector<bool> named = match::named_nodes(model, all, names, findings);
  std::set<ir::NodeId> looked_at;
  for (const DType half : {DType::float16, DType::bfloat16}) {
    const FloatModel floats(model, half);
    const HalfPlan plan = WideningPlanner(model, half, floats, named).plan(rewriter.steps_left());
    const std::vector<ir::NodeId> nodes = converted_nodes(plan.layers);
    for (const Layer& layer : plan.layers) {
      looked_at.insert(layer.node);
      report.layers.push_back(layer);
    }
    if (nodes.empty()) continue;
    report.changed = true;
    rewriter.apply("compute in float32", nodes,
                   [&] { add(apply_half(model, rewriter.edit(), {.half = half}, plan), report.edits); });
  }
  for (const ir::NodeId node : all) {
    const bool is_other = named[node.index] && model[node].alive && !looked_at.contains(node);
    if (is_other) report.layers.push_back(make_layer(model, node, "it has no 16-bit values"));
  }
  return report;
}

}  // namespace assay::convert
