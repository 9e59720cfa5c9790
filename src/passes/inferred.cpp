#include "passes/inferred.h"

namespace assay::passes {

bool Inferred::is_in_function(ir::ValueId value) const {
  const ir::Model& model = run_.model();
  return model.root(model[value].graph) != model.main_graph();
}

const ops::Type* Inferred::type(ir::ValueId value) {
  if (!value) return nullptr;
  if (const tensor::Tensor* tensor = run_.constant(value)) {
    const auto [entry, is_new] = constants_.try_emplace(value);
    if (is_new) entry->second = ops::Type::tensor(tensor->dtype(), ops::dims_of(tensor->shape()));
    return &entry->second;
  }
  if (is_in_function(value)) return nullptr;
  const ops::Type& type = run_.type(value);
  return type.is_tensor() ? &type : nullptr;
}

tensor::DType Inferred::dtype(ir::ValueId value) {
  const ops::Type* known = type(value);
  return known ? known->dtype : tensor::DType::undefined;
}

const ops::Dims* Inferred::dims(ir::ValueId value) {
  const ops::Type* known = type(value);
  return known && known->dims ? &*known->dims : nullptr;
}

bool Inferred::is_same_shape(ir::ValueId a, ir::ValueId b) {
  const ops::Dims* left = dims(a);
  const ops::Dims* right = dims(b);
  if (!left || !right || left->size() != right->size()) return false;
  for (size_t i = 0; i < left->size(); ++i) {
    if (!(*left)[i].equals((*right)[i])) return false;
  }
  return true;
}

std::optional<tensor::Shape> Inferred::shape(ir::ValueId value) {
  const ops::Dims* known = dims(value);
  return known ? ops::numbers(*known) : std::nullopt;
}

}  // namespace assay::passes
