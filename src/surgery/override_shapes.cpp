#include "surgery/override_shapes.h"

#include "base/error.h"
#include "base/text.h"

namespace assay::surgery {
namespace {

ir::DimId dim_of(ir::Model& model, const NewDim& dim) {
  if (dim.number) return model.dims().constant(*dim.number);
  return dim.name.empty() ? ir::kUnknownDim : model.dims().symbol(model.symbols().intern(dim.name));
}

// Results keep their element type only.
void forget_shapes(ir::Model& model, ir::Edit& edit) {
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    const ir::Value& value = model[ir::ValueId{i}];
    if (!value.alive || value.kind != ir::ValueKind::result || !value.type.valid()) continue;
    const ir::Type& type = model[value.type];
    if (type.kind != ir::TypeKind::tensor || !type.ranked) continue;
    edit.set_type(ir::ValueId{i}, model.types().unranked_tensor(type.dtype));
  }
}

}  // namespace

void override_shapes(ir::Model& model, std::span<const NewShape> shapes) {
  ir::Edit edit(model);
  for (const NewShape& item : shapes) {
    const ir::Value& value = model[item.input];
    const tensor::DType dtype = value.type.valid() ? model[value.type].dtype : tensor::DType::undefined;
    if (value.type.valid() && model[value.type].kind != ir::TypeKind::tensor) {
      fail(ErrorCode::usage, "`{}` is no tensor: it has no shape", printable(model.text(value.name)));
    }
    std::vector<ir::DimId> dims;
    for (const NewDim& dim : item.dims) dims.push_back(dim_of(model, dim));
    edit.set_type(item.input, model.types().tensor(dtype, std::move(dims)));
  }
  if (!shapes.empty()) forget_shapes(model, edit);
}

}  // namespace assay::surgery
