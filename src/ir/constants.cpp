#include "ir/constants.h"

#include <array>

#include "ir/queries.h"

namespace assay::ir {
namespace {

constexpr std::string_view kOp = "Constant";

}  // namespace

bool is_constant_node(const Model& model, NodeId node) { return is_op(model, node, kOp); }

ValueId add_initializer(Edit& edit, NewConstant constant) {
  TensorEntry entry;
  entry.tensor = std::move(constant.tensor);
  entry.name = edit.model().text(constant.name);
  entry.dirty = true;
  return edit.add_initializer(constant.graph, constant.name, edit.add_tensor(std::move(entry)));
}

Attribute tensor_attribute(Edit& edit, std::string_view name, tensor::Tensor tensor) {
  TensorEntry entry;
  entry.tensor = std::move(tensor);
  entry.dirty = true;
  const TensorId id = edit.add_tensor(std::move(entry));
  return Attribute::of(edit.intern(name), AttributeType::tensor, id);
}

NodeId add_constant_node(Edit& edit, const ConstantPlace& place, const Attribute& held) {
  NodeSpec spec;
  spec.op = edit.intern(kOp);
  spec.results = {&place.name, 1};
  spec.attributes = {&held, 1};
  return edit.add_node(place.graph, spec, place.before);
}

NodeId add_constant_node(Edit& edit, NewConstant constant) {
  const Attribute held = tensor_attribute(edit, "value", std::move(constant.tensor));
  return add_constant_node(edit, {constant.graph, constant.name, constant.before}, held);
}

ValueId add_constant(Edit& edit, NewConstant constant) {
  if (has_initializers(edit.model(), constant.graph)) return add_initializer(edit, std::move(constant));
  return edit.model()[add_constant_node(edit, std::move(constant))].results[0];
}

void drop_unused(Edit& edit, ValueId constant) {
  const Model& model = edit.model();
  const Value& value = model[constant];
  if (!value.alive || value.first_use) return;
  if (value.kind == ValueKind::initializer) return edit.erase(constant);
  if (value.producer && is_constant_node(model, value.producer)) edit.erase(value.producer);
}

}  // namespace assay::ir
