#include "ir/constants.h"

#include <array>

#include "ir/queries.h"

namespace assay::ir {

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

NodeId add_constant_node(Edit& edit, NewConstant constant) {
  const std::array attributes = {tensor_attribute(edit, "value", std::move(constant.tensor))};
  NodeSpec spec;
  spec.op = edit.intern("Constant");
  spec.results = {&constant.name, 1};
  spec.attributes = attributes;
  return edit.add_node(constant.graph, spec, constant.before);
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
