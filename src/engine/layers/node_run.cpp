#include "engine/layers/node_run.h"

#include "tensor/elements.h"

namespace assay::engine {

bool NodeRun::is(std::string_view op) const {
  if (at_ >= nodes_.size()) return false;
  const ir::Node& node = model_[nodes_[at_]];
  return model_.text(node.op) == op && model_.text(node.domain).empty() &&
         inference_.callees()[nodes_[at_]].op != nullptr;
}

ir::ValueId NodeRun::operand(uint32_t index) const {
  const ir::Node& node = model_[nodes_[at_]];
  return index < node.operands.size() ? node.operands[index].value : ir::ValueId{};
}

ops::Node NodeRun::facts() const {
  const ops::Callee& callee = inference_.callees()[nodes_[at_]];
  return {model_, model_[nodes_[at_]], callee.schema, callee.version, nullptr};
}

TensorDesc NodeRun::desc_of(ir::ValueId value) const {
  return value.valid() ? find_desc(model_, inference_, value).value_or(TensorDesc()) : TensorDesc();
}

std::optional<double> NodeRun::number(ir::ValueId value) const {
  const tensor::Tensor* const tensor = value.valid() ? constant_(value) : nullptr;
  if (tensor == nullptr || tensor->count() != 1) return {};
  return tensor::load_elements<double>(*tensor).front();
}

}  // namespace assay::engine
