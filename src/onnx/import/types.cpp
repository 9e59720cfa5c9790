#include "onnx/import/types.h"

#include "onnx/fields.h"

namespace assay::onnx {

using ir::Type;
using ir::TypeId;
using ir::TypeKind;
using tensor::DType;

TypeId TypeImporter::import(const Message& message) {
  const std::string_view key(reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size());
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  const TypeId id = parse(message);
  known_.emplace(key, id);
  return id;
}

TypeId TypeImporter::parse(const Message& message) {
  Type type;
  bool found = false;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::type::denotation) {
      type.denotation = symbol(field, "denotation");
      continue;
    }
    const ir::Symbol denotation = type.denotation;
    switch (field.number) {
      case field::type::tensor:
      case field::type::sparse_tensor:
        type = Type{field.number == field::type::tensor ? TypeKind::tensor : TypeKind::sparse_tensor};
        parse_tensor(as_message(message, field, "tensor_type"), type);
        break;
      case field::type::sequence:
      case field::type::optional:
        type = Type{field.number == field::type::sequence ? TypeKind::sequence : TypeKind::optional};
        type.element = parse_element(as_message(message, field, "elem_type"));
        break;
      case field::type::map:
        type = Type{TypeKind::map};
        parse_map(as_message(message, field, "map_type"), type);
        break;
      case field::type::opaque:
        type = Type{TypeKind::opaque};
        parse_opaque(as_message(message, field, "opaque_type"), type);
        break;
      default:
        continue;
    }
    type.denotation = denotation;
    found = true;
  }
  return found ? model_.types().intern(std::move(type)) : TypeId{};
}

void TypeImporter::parse_tensor(const Message& message, Type& type) {
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::tensor_type::elem_type) {
      type.dtype = static_cast<DType>(as_int(field, "elem_type"));
    } else if (field.number == field::tensor_type::shape) {
      type.ranked = true;
      parse_shape(as_message(message, field, "shape"), type);
    }
  }
}

void TypeImporter::parse_shape(const Message& message, Type& type) {
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::shape::dim) type.dims.push_back(parse_dim(as_message(message, field, "dim")));
  }
}

// A negative number is how some exporters write a dim that is not known.
ir::DimId TypeImporter::parse_dim(const Message& message) {
  ir::DimId dim = ir::kUnknownDim;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::dim::value) {
      const int64_t value = as_int(field, "dim_value");
      dim = value < 0 ? ir::kUnknownDim : model_.dims().constant(value);
    } else if (field.number == field::dim::param) {
      const ir::Symbol name = symbol(field, "dim_param");
      dim = name == ir::kEmpty ? ir::kUnknownDim : model_.dims().symbol(name);
    }
  }
  return dim;
}

TypeId TypeImporter::parse_element(const Message& message) {
  TypeId element;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == 1) element = import(as_message(message, field, "elem_type"));
  }
  return element;
}

void TypeImporter::parse_map(const Message& message, Type& type) {
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::map_type::key_type) type.dtype = static_cast<DType>(as_int(field, "key_type"));
    if (field.number == field::map_type::value_type) type.element = import(as_message(message, field, "value_type"));
  }
}

void TypeImporter::parse_opaque(const Message& message, Type& type) {
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::opaque_type::domain) type.domain = symbol(field, "domain");
    if (field.number == field::opaque_type::name) type.name = symbol(field, "name");
  }
}

ir::Symbol TypeImporter::symbol(const Field& field, std::string_view name) {
  return model_.symbols().intern(as_string(field, name));
}

}  // namespace assay::onnx
