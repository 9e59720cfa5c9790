#include <fmt/format.h>

#include "ir/constants.h"
#include "passes/opset/draft.h"

namespace assay::passes {

ir::Symbol Drafting::fresh_name(std::string_view base) {
  return names_.next(run_.edit(), fmt::format("{}_opset", base));
}

ir::ValueId Draft::resolve(const DraftValue& value) const {
  return value.made ? values_[*value.made] : shared_.current(value.existing);
}

// Bodies of functions have no initializers; a Constant node is right everywhere.
void Draft::put_constant(const tensor::Tensor& tensor) {
  const ir::Symbol name = fresh_name();
  const ir::GraphId graph = model()[node_].graph;
  if (graph == model().main_graph()) {
    values_.push_back(ir::add_initializer(edit(), {graph, name, tensor}));
    return;
  }
  const ir::Attribute held = ir::tensor_attribute(edit(), "value", tensor);
  values_.push_back(put({.op = "Constant", .operands = {}, .attributes = {held}}, node_, name));
}

ir::ValueId Draft::put(const DraftNode& node, ir::NodeId before, ir::Symbol name) {
  std::vector<ir::ValueId> operands;
  for (const DraftValue& operand : node.operands) operands.push_back(resolve(operand));
  ir::NodeSpec spec;
  spec.op = edit().intern(node.op);
  spec.operands = operands;
  spec.results = {&name, 1};
  spec.attributes = node.attributes;
  const ir::NodeId made = edit().add_node(model()[node_].graph, spec, before);
  edit().origins().merge(made, {node_});
  return model()[made].results[0];
}

// Directly behind the node. The new one takes the name and the type of what it replaces, which may be an output.
void Draft::put_follower(const Follower& follower) {
  const ir::ValueId old_value = model()[node_].results[follower.result];
  const ir::ValueId value = put(follower.node, model()[node_].next, model()[old_value].name);
  edit().set_type(value, model()[old_value].type);
  edit().replace_uses(old_value, value);
  edit().rename(old_value, fresh_name());
  edit().set_type(old_value, {});
  std::vector<ir::ValueId> operands = {old_value};
  for (const DraftValue& operand : follower.node.operands) operands.push_back(resolve(operand));
  edit().set_operands(model()[value].producer, operands);
  edit().origins().replace(old_value, value);
  shared_.replace(old_value, value);
}

void Draft::apply() {
  for (const DraftNode& made : made_) {
    if (made.constant) {
      put_constant(*made.constant);
    } else {
      values_.push_back(put(made, node_, fresh_name()));
    }
  }
  std::vector<ir::ValueId> operands;
  for (const DraftValue& operand : operands_) operands.push_back(resolve(operand));
  edit().set_operands(node_, operands);
  edit().set_attributes(node_, attributes_);
  if (model().text(model()[node_].op) != op_) edit().set_op(node_, edit().intern(op_), model()[node_].domain);
  for (size_t i = followers_.size(); i-- > 0;) put_follower(followers_[i]);
}

}  // namespace assay::passes
