#include "ops/write_types.h"

#include "ir/edit.h"

namespace assay::ops {

ir::TypeId to_model(const Type& type, ir::Model& model) {
  if (!type.known || type.kind == ir::TypeKind::opaque) return {};
  ir::Type result;
  result.kind = type.kind;
  result.dtype = type.dtype;
  result.ranked = type.dims.has_value();
  if (type.dims) {
    for (const Dim& dim : *type.dims) result.dims.push_back(to_model(dim, model));
  }
  if (type.element) {
    result.element = to_model(*type.element, model);
    if (!result.element.valid()) return {};
  }
  return model.types().intern(std::move(result));
}

void write_type(const Inference& inference, ir::Model& model, ir::ValueId id) {
  const ir::Value& value = model[id];
  if (!value.alive || value.kind == ir::ValueKind::initializer) return;
  const bool is_of_main = value.graph == model.main_graph();
  const bool stays = is_of_main ? value.kind == ir::ValueKind::input : model.root(value.graph) != model.main_graph();
  if (stays || !inference.type(id).known) return;
  const ir::TypeId type = to_model(inference.type(id), model);
  if (type.valid() && type != value.type) ir::Edit(model).set_type(id, type);
}

void write_types(const Inference& inference, ir::Model& model) {
  const uint32_t count = model.value_slots();
  for (uint32_t i = 0; i < count; ++i) write_type(inference, model, ir::ValueId{i});
}

}  // namespace assay::ops
