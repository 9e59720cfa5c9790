#include "ops/type.h"

namespace assay::ops {
namespace {

Type of_kind(ir::TypeKind kind) {
  Type type;
  type.known = true;
  type.kind = kind;
  return type;
}

}  // namespace

Type Type::tensor(tensor::DType dtype, std::optional<Dims> dims) {
  Type type = of_kind(ir::TypeKind::tensor);
  type.dtype = dtype;
  type.dims = std::move(dims);
  return type;
}

Type Type::sequence(Type element) {
  Type type = of_kind(ir::TypeKind::sequence);
  type.element = std::make_shared<const Type>(std::move(element));
  return type;
}

Type Type::optional(Type element) {
  Type type = of_kind(ir::TypeKind::optional);
  type.element = std::make_shared<const Type>(std::move(element));
  return type;
}

Type Type::map(tensor::DType key, Type value) {
  Type type = of_kind(ir::TypeKind::map);
  type.dtype = key;
  type.element = std::make_shared<const Type>(std::move(value));
  return type;
}

std::string Type::text() const {
  if (!known) return "?";
  const std::string inner = element ? element->text() : "?";
  switch (kind) {
    case ir::TypeKind::tensor:
      return tensor::name(dtype) + (dims ? ops::text(*dims) : "");
    case ir::TypeKind::sparse_tensor:
      return "sparse " + tensor::name(dtype) + (dims ? ops::text(*dims) : "");
    case ir::TypeKind::sequence:
      return "sequence of " + inner;
    case ir::TypeKind::optional:
      return "optional " + inner;
    case ir::TypeKind::map:
      return "map of " + tensor::name(dtype) + " to " + inner;
    case ir::TypeKind::opaque:
      break;
  }
  return "opaque";
}

Type type_of(const tensor::Datum& datum) {
  switch (datum.kind()) {
    case tensor::Datum::Kind::none:
      return {};
    case tensor::Datum::Kind::tensor:
      return Type::tensor(datum.declared(), dims_of(datum.tensor().shape()));
    case tensor::Datum::Kind::map:
      return Type::map(datum.keys().dtype(), Type::tensor(datum.declared(), Dims{}));
    case tensor::Datum::Kind::sequence:
      break;
  }
  if (datum.items().empty()) return Type::sequence({});
  // Facts that the items do not share are not known of the element.
  Type element = type_of(datum.items().front());
  for (const tensor::Datum& item : datum.items()) {
    const Type other = type_of(item);
    if (!element.dims || !other.dims) continue;
    if (element.dims->size() != other.dims->size()) {
      element.dims.reset();
      break;
    }
    for (size_t i = 0; i < element.dims->size(); ++i) {
      if (!(*element.dims)[i].equals((*other.dims)[i])) (*element.dims)[i] = Dim();
    }
  }
  return Type::sequence(element);
}

Type bare(const Type& type) {
  Type result = type;
  result.dims.reset();
  if (type.element) result.element = std::make_shared<const Type>(bare(*type.element));
  return result;
}

}  // namespace assay::ops
