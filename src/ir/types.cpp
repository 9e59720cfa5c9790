#include "ir/types.h"

#include <utility>

namespace assay::ir {

TypeTable::TypeTable(const TypeTable& other) {
  for (const Type* type : other.types_) intern(*type);
}

TypeId TypeTable::intern(Type type) {
  const auto [entry, is_new] = ids_.try_emplace(std::move(type), TypeId{size()});
  if (is_new) types_.push_back(&entry->first);
  return entry->second;
}

TypeId TypeTable::tensor(tensor::DType dtype, std::vector<DimId> dims) {
  Type type;
  type.dtype = dtype;
  type.ranked = true;
  type.dims = std::move(dims);
  return intern(std::move(type));
}

TypeId TypeTable::unranked_tensor(tensor::DType dtype) {
  Type type;
  type.dtype = dtype;
  return intern(std::move(type));
}

namespace {

bool dims_refine(const Type& a, const Type& b) {
  if (!b.ranked) return true;
  if (!a.ranked || a.dims.size() != b.dims.size()) return false;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (b.dims[i] != kUnknownDim && a.dims[i] != b.dims[i]) return false;
  }
  return true;
}

}  // namespace

bool TypeTable::refines(TypeId a, TypeId b) const {
  while (a != b) {
    if (!b.valid()) return true;
    if (!a.valid()) return false;
    const Type& left = (*this)[a];
    const Type& right = (*this)[b];
    const bool same = left.kind == right.kind && left.domain == right.domain && left.name == right.name &&
                      (left.dtype == right.dtype || right.dtype == tensor::DType::undefined) &&
                      dims_refine(left, right);
    if (!same) return false;
    a = left.element;
    b = right.element;
  }
  return true;
}

}  // namespace assay::ir
