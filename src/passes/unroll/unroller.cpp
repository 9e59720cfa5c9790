#include "passes/unroll/unroller.h"

#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/clone.h"
#include "passes/constants.h"
#include "passes/match.h"

namespace assay::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

class Unroller {
 public:
  Unroller(PassRun& run, const UnrollPlan& plan)
      : run_(run), model_(run.model()), edit_(run.edit()), plan_(plan), version_(run.callee(plan.node).version) {}

  NodeId run();

 private:
  struct NewNode {
    std::string_view op;
    std::vector<ValueId> operands;
    std::vector<ir::Attribute> attributes = {};
    ir::Symbol name = {};  // of the result; none: a fresh one
  };

  uint32_t gathered_count() const {
    return static_cast<uint32_t>(model_.outputs(plan_.body).size()) - plan_.first_state_output - plan_.states;
  }
  void iterate(int64_t number);
  void map_inputs(ir::Cloner& cloner, int64_t number);
  ValueId slice(uint32_t index, int64_t number);
  ValueId gather(uint32_t index, ir::Symbol name);
  ValueId as_row(ValueId value, int64_t axis);
  void hand_over();
  ValueId add(NewNode node);
  ValueId add_constant(tensor::Tensor tensor);
  ir::Symbol fresh_name();

  PassRun& run_;
  ir::Model& model_;
  ir::Edit& edit_;
  const UnrollPlan& plan_;
  int64_t version_;
  std::vector<ValueId> states_;
  std::vector<std::vector<ValueId>> gathered_;  // by output, then by iteration
  std::vector<NodeId> made_;
  std::string prefix_;
  uint64_t next_name_ = 0;
};

ir::Symbol Unroller::fresh_name() {
  for (;;) {
    const std::string name = fmt::format("{}_unrolled_{}", prefix_, next_name_++);
    if (!model_.symbols().find(name)) return edit_.intern(name);
  }
}

ValueId Unroller::add(NewNode node) {
  if (!node.name) node.name = fresh_name();
  ir::NodeSpec spec;
  spec.op = edit_.intern(node.op);
  spec.operands = node.operands;
  spec.results = {&node.name, 1};
  spec.attributes = node.attributes;
  made_.push_back(edit_.add_node(model_[plan_.node].graph, spec, plan_.node));
  return model_[made_.back()].results[0];
}

// A Constant node, which may stand in any graph.
ValueId Unroller::add_constant(tensor::Tensor tensor) {
  ir::TensorEntry entry;
  entry.tensor = std::move(tensor);
  entry.dirty = true;
  const ir::TensorId id = edit_.add_tensor(std::move(entry));
  return add({.op = "Constant",
              .operands = {},
              .attributes = {ir::Attribute::of(edit_.intern("value"), ir::AttributeType::tensor, id)}});
}

tensor::Tensor scalar(int64_t number) { return ops::make_rounded(tensor::DType::int64, {}, std::vector{number}); }

tensor::Tensor truth() { return ops::make_rounded(tensor::DType::boolean, {}, std::vector<int64_t>{1}); }

// Gather with a scalar index takes the axis away.
ValueId Unroller::slice(uint32_t index, int64_t number) {
  const UnrollAxis& axis = plan_.slices[index];
  const int64_t at = axis.is_reverse ? plan_.iterations - 1 - number : number;
  const ValueId data = operand(model_, plan_.node, plan_.states + index);
  return add({.op = "Gather",
              .operands = {data, add_constant(scalar(at))},
              .attributes = {ir::Attribute::of(edit_.intern("axis"), axis.axis)}});
}

void Unroller::map_inputs(ir::Cloner& cloner, int64_t number) {
  const std::vector<ValueId> inputs = model_[plan_.body].inputs;
  if (plan_.number && model_[plan_.number].first_use) cloner.map(plan_.number, add_constant(scalar(number)));
  if (plan_.condition && model_[plan_.condition].first_use) cloner.map(plan_.condition, add_constant(truth()));
  for (uint32_t i = 0; i < plan_.states; ++i) cloner.map(inputs[plan_.first_state_input + i], states_[i]);
  for (uint32_t i = 0; i < plan_.slices.size(); ++i) cloner.map(inputs[plan_.states + i], slice(i, number));
}

void Unroller::iterate(int64_t number) {
  const ir::ClonePlan plan = {.before = plan_.node,
                              .prefix = fmt::format("{}_{}", prefix_, number),
                              .bindings = nullptr,
                              .drops_named_dims = true};
  ir::Cloner cloner(model_, edit_, plan);
  map_inputs(cloner, number);
  const std::vector<NodeId> copies = cloner.copy_contents(plan_.body);
  made_.insert(made_.end(), copies.begin(), copies.end());
  const std::span<const ir::Use> outputs = model_.outputs(plan_.body).subspan(plan_.first_state_output);
  for (uint32_t i = 0; i < plan_.states; ++i) states_[i] = cloner.mapped(outputs[i].value);
  for (uint32_t i = 0; i < gathered_.size(); ++i) {
    gathered_[i].push_back(cloner.mapped(outputs[plan_.states + i].value));
  }
}

ValueId Unroller::as_row(ValueId value, int64_t axis) {
  constexpr int64_t kAxesAreInput = 13;
  if (version_ >= kAxesAreInput) {
    return add({.op = "Unsqueeze", .operands = {value, add_constant(integer_tensor({axis}))}});
  }
  return add({.op = "Unsqueeze", .operands = {value}, .attributes = {integers_attribute(run_, "axes", {axis})}});
}

ValueId Unroller::gather(uint32_t index, ir::Symbol name) {
  const UnrollAxis axis = index < plan_.gathered.size() ? plan_.gathered[index] : UnrollAxis();
  std::vector<ValueId> rows;
  for (const ValueId value : gathered_[index]) rows.push_back(as_row(value, axis.axis));
  if (axis.is_reverse) std::ranges::reverse(rows);
  return add({.op = "Concat",
              .operands = rows,
              .attributes = {ir::Attribute::of(edit_.intern("axis"), axis.axis)},
              .name = name});
}

// Identity nodes give the names of the results to the last states, which may be anything.
void Unroller::hand_over() {
  for (uint32_t i = 0; i < model_[plan_.node].results.size(); ++i) {
    const ValueId old = result(model_, plan_.node, i);
    if (!old || !model_[old].first_use) continue;
    const ir::Symbol name = model_[old].name;
    const ValueId value = i < plan_.states ? add({.op = "Identity", .operands = {states_[i]}, .name = name})
                                           : gather(i - plan_.states, name);
    edit_.set_type(value, model_[old].type);
    edit_.replace_uses(old, value);
    edit_.origins().replace(old, value);
  }
}

NodeId Unroller::run() {
  prefix_ = model_[plan_.node].name;
  for (const ValueId value : model_[plan_.node].results) {
    if (prefix_.empty() && value) prefix_ = model_.text(model_[value].name);
  }
  for (uint32_t i = 0; i < plan_.states; ++i) {
    states_.push_back(operand(model_, plan_.node, plan_.first_state_operand + i));
  }
  gathered_.resize(gathered_count());
  const NodeId next = model_[plan_.node].next;
  for (int64_t number = 0; number < plan_.iterations; ++number) iterate(number);
  hand_over();
  edit_.erase(plan_.node);
  const NodeId first = made_.empty() ? next : made_.front();
  run_.rewriter().record("it has few iterations, and their number is known", plan_.node, made_);
  return first;
}

uint64_t nodes_in(const ir::Model& model, ir::GraphId graph) {
  uint64_t count = 0;
  std::vector<ir::GraphId> pending = {graph};
  while (!pending.empty()) {
    const ir::GraphId next = pending.back();
    pending.pop_back();
    for (const NodeId node : ir::nodes(model, next)) {
      ++count;
      const std::vector<ir::GraphId> bodies = model.bodies(model[node]);
      pending.insert(pending.end(), bodies.begin(), bodies.end());
    }
  }
  return count;
}

}  // namespace

uint64_t nodes_made(const ir::Model& model, const UnrollPlan& plan) {
  const uint64_t outputs = model.outputs(plan.body).size();
  const uint64_t gathered = outputs - std::min<uint64_t>(outputs, plan.first_state_output + plan.states);
  return nodes_in(model, plan.body) + 2 * (plan.slices.size() + gathered);
}

std::string unroll_refusal(const ir::Model& model, const UnrollPlan& plan) {
  const size_t inputs = plan.first_state_input + plan.states + plan.slices.size();
  const size_t operands = plan.first_state_operand + plan.states + plan.slices.size();
  const std::span<const ir::Use> outputs = model.outputs(plan.body);
  if (model[plan.body].inputs.size() != inputs || model[plan.node].operands.size() != operands ||
      outputs.size() < plan.first_state_output + plan.states ||
      model[plan.node].results.size() > outputs.size() - plan.first_state_output) {
    return "its operands or results do not fit to its body";
  }
  for (uint32_t i = plan.first_state_operand; i < operands; ++i) {
    if (!operand(model, plan.node, i)) return "an operand is left out";
  }
  for (const ir::Use& output : outputs) {
    if (!output.value || model[output.value].kind == ir::ValueKind::undefined)
      return "nothing computes an output of its body";
  }
  return {};
}

NodeId unroll(PassRun& run, const UnrollPlan& plan) { return Unroller(run, plan).run(); }

}  // namespace assay::passes
