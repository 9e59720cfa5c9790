#include "ops/kernels/elements/type_union.h"

namespace assay::ops {

Type type_union(const Type& a, const Type& b) {
  if (!a.known || !b.known || a.kind != b.kind) return {};
  Type result = a;
  if (a.dtype != b.dtype) result.dtype = tensor::DType::undefined;
  if (a.element && b.element) result.element = std::make_shared<const Type>(type_union(*a.element, *b.element));
  if (!a.dims || !b.dims || a.dims->size() != b.dims->size()) {
    result.dims.reset();
    return result;
  }
  for (size_t i = 0; i < a.dims->size(); ++i) {
    if (!(*a.dims)[i].equals((*b.dims)[i])) (*result.dims)[i] = Dim();
  }
  return result;
}

Type stacked(const Type& type, const Dim& count) {
  Type result = type;
  if (result.dims) result.dims->insert(result.dims->begin(), count);
  return result;
}

}  // namespace assay::ops
