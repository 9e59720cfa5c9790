#include <fmt/format.h>

#include "inspect/model_overview.h"

namespace assay::inspect {

std::string type_text(const ir::Model& model, ir::TypeId id) {
  if (!id) return "";
  const ir::Type& type = model[id];
  switch (type.kind) {
    case ir::TypeKind::tensor:
      return tensor::name(type.dtype);
    case ir::TypeKind::sparse_tensor:
      return fmt::format("sparse({})", tensor::name(type.dtype));
    case ir::TypeKind::sequence:
      return fmt::format("seq({})", type_text(model, type.element));
    case ir::TypeKind::optional:
      return fmt::format("optional({})", type_text(model, type.element));
    case ir::TypeKind::map:
      return fmt::format("map({}, {})", tensor::name(type.dtype), type_text(model, type.element));
    case ir::TypeKind::opaque:
      return fmt::format("opaque({}.{})", model.text(type.domain), model.text(type.name));
  }
  return "";
}

std::vector<results::ListedDim> dims_of(const ir::Model& model, const ir::Type& type) {
  std::vector<results::ListedDim> dims;
  for (const ir::DimId id : type.dims) {
    results::ListedDim& dim = dims.emplace_back();
    dim.value = model.dims().as_constant(id);
    if (!dim.value && id != ir::kUnknownDim) dim.symbol = model.dims().text(id, model.symbols());
  }
  return dims;
}

namespace {

void describe_tensor(const ir::TensorEntry& entry, results::ValueInfo& info) {
  const bool sparse = entry.sparse != nullptr;
  const tensor::Shape& shape = sparse ? entry.sparse->dims : entry.tensor.shape();
  info.type = tensor::name(sparse ? entry.sparse->values.dtype() : entry.tensor.dtype());
  if (sparse) info.type = fmt::format("sparse({})", info.type);
  info.ranked = true;
  info.shape.clear();
  for (const int64_t dim : shape) info.shape.push_back({dim, {}});
}

}  // namespace

results::ValueInfo value_info(const ir::Model& model, ir::ValueId id) {
  results::ValueInfo info;
  if (!id) return info;
  const ir::Value& value = model[id];
  info.name = model.text(value.name);
  if (value.type) {
    info.type = type_text(model, value.type);
    info.ranked = model[value.type].ranked;
    info.shape = dims_of(model, model[value.type]);
  }
  info.is_initializer = value.constant.valid();
  if (value.constant) describe_tensor(model[value.constant], info);
  return info;
}

}  // namespace assay::inspect
