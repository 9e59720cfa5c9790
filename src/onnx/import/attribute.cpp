#include "onnx/import/attribute.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "onnx/fields.h"

namespace assay::onnx {

using ir::Attribute;
using ir::AttributeType;

struct AttributeImporter::Parts {
  ir::Symbol name = ir::kEmpty;
  ir::Symbol reference = ir::kEmpty;
  AttributeType type = AttributeType::undefined;
  AttributeType implied = AttributeType::undefined;  // by the field that is present; counts where no type is given
  float f = 0;
  int64_t i = 0;
  ir::Symbol s = ir::kEmpty;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<ir::Symbol> strings;
  std::vector<ir::TensorId> tensors;
  std::vector<ir::GraphId> graphs;
  std::vector<ir::TensorId> sparse_tensors;
  std::vector<ir::TypeId> types;
};

Attribute AttributeImporter::import(const Message& message, const ImportBody& import_body) {
  Parts parts;
  return with_frame([&] { return fmt::format("attribute `{}`", printable(model_.text(parts.name))); },
                    [&] {
                      read(message, parts, import_body);
                      if (parts.type == AttributeType::undefined) parts.type = parts.implied;
                      const Attribute attribute = make(parts);
                      drop_unused(parts, attribute);
                      return attribute;
                    });
}

void AttributeImporter::read(const Message& message, Parts& parts, const ImportBody& import_body) {
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (read_text(field, parts)) continue;
    switch (field.number) {
      case field::attribute::type: {
        const int64_t type = as_int(field, "type");
        const bool known = type > 0 && type <= static_cast<int64_t>(AttributeType::types);
        parts.type = known ? static_cast<AttributeType>(type) : AttributeType::undefined;
        break;
      }
      case field::attribute::f:
      case field::attribute::i:
      case field::attribute::floats:
      case field::attribute::ints:
        read_number(field, parts);
        break;
      default:
        read_message(message, field, parts, import_body);
    }
  }
}

void AttributeImporter::read_number(const Field& field, Parts& parts) {
  switch (field.number) {
    case field::attribute::f:
      parts.f = as_float(field, "f");
      parts.implied = AttributeType::floating;
      break;
    case field::attribute::i:
      parts.i = as_int(field, "i");
      parts.implied = AttributeType::integer;
      break;
    case field::attribute::floats:
      for_each_fixed<uint32_t>(field, "floats",
                               [&](uint32_t bits) { parts.floats.push_back(std::bit_cast<float>(bits)); });
      parts.implied = AttributeType::floats;
      break;
    default:
      for_each_varint(field, "ints", [&](uint64_t value) { parts.ints.push_back(static_cast<int64_t>(value)); });
      parts.implied = AttributeType::integers;
  }
}

bool AttributeImporter::read_text(const Field& field, Parts& parts) {
  switch (field.number) {
    case field::attribute::name:
      parts.name = symbol(field, "name");
      return true;
    case field::attribute::ref_attr_name:
      parts.reference = symbol(field, "ref_attr_name");
      return true;
    case field::attribute::s:
      parts.s = symbol(field, "s");
      parts.implied = AttributeType::string;
      return true;
    case field::attribute::strings:
      parts.strings.push_back(symbol(field, "strings"));
      parts.implied = AttributeType::strings;
      return true;
    default:
      return false;
  }
}

void AttributeImporter::read_message(const Message& message, const Field& field, Parts& parts,
                                     const ImportBody& import_body) {
  switch (field.number) {
    case field::attribute::t:
    case field::attribute::tensors:
      parts.tensors.push_back(import_tensor(as_message(message, field, "t"), false));
      parts.implied = field.number == field::attribute::t ? AttributeType::tensor : AttributeType::tensors;
      break;
    case field::attribute::sparse_tensor:
    case field::attribute::sparse_tensors:
      parts.sparse_tensors.push_back(import_tensor(as_message(message, field, "sparse_tensor"), true));
      parts.implied = field.number == field::attribute::sparse_tensor ? AttributeType::sparse_tensor
                                                                      : AttributeType::sparse_tensors;
      break;
    case field::attribute::g:
    case field::attribute::graphs:
      parts.graphs.push_back(import_body(as_message(message, field, "g")));
      parts.implied = field.number == field::attribute::g ? AttributeType::graph : AttributeType::graphs;
      break;
    case field::attribute::type_proto:
    case field::attribute::type_protos:
      parts.types.push_back(types_.import(as_message(message, field, "tp")));
      parts.implied = field.number == field::attribute::type_proto ? AttributeType::type : AttributeType::types;
      break;
    default:
      break;
  }
}

ir::TensorId AttributeImporter::import_tensor(const Message& message, bool sparse) {
  return edit_.add_tensor(sparse ? tensors_.import_sparse(message) : tensors_.import(message));
}

template <typename T>
Attribute AttributeImporter::make_list(const Parts& parts, const std::vector<T>& items) {
  return Attribute::list(parts.name, parts.type, model_.arena().copy(std::span<const T>(items)));
}

// A single value that is declared but not there has ONNX's default only for numbers and strings.
template <typename T>
Attribute AttributeImporter::make_single(const Parts& parts, const std::vector<T>& items) {
  if (items.empty()) fail(ErrorCode::parse, "it declares a type whose value is missing");
  return Attribute::of(parts.name, parts.type, items.back());
}

Attribute AttributeImporter::make(const Parts& parts) {
  if (parts.reference != ir::kEmpty) return Attribute::reference(parts.name, parts.type, parts.reference);
  switch (parts.type) {
    case AttributeType::floating:
      return Attribute::of(parts.name, parts.f);
    case AttributeType::integer:
      return Attribute::of(parts.name, parts.i);
    case AttributeType::string:
      return Attribute::of(parts.name, parts.type, parts.s);
    case AttributeType::floats:
      return make_list(parts, parts.floats);
    case AttributeType::integers:
      return make_list(parts, parts.ints);
    case AttributeType::strings:
      return make_list(parts, parts.strings);
    case AttributeType::tensor:
      return make_single(parts, parts.tensors);
    case AttributeType::tensors:
      return make_list(parts, parts.tensors);
    case AttributeType::graph:
      return make_single(parts, parts.graphs);
    case AttributeType::graphs:
      return make_list(parts, parts.graphs);
    case AttributeType::sparse_tensor:
      return make_single(parts, parts.sparse_tensors);
    case AttributeType::sparse_tensors:
      return make_list(parts, parts.sparse_tensors);
    case AttributeType::type:
      return make_single(parts, parts.types);
    case AttributeType::types:
      return make_list(parts, parts.types);
    case AttributeType::undefined:
      break;
  }
  return Attribute::reference(parts.name, AttributeType::undefined, ir::kEmpty);
}

// Bodies in fields that the attribute's type does not call for.
void AttributeImporter::drop_unused(const Parts& parts, const Attribute& attribute) {
  const std::span<const ir::GraphId> used = attribute.graphs();
  for (const ir::GraphId body : parts.graphs) {
    if (std::find(used.begin(), used.end(), body) == used.end()) edit_.erase(body);
  }
}

ir::Symbol AttributeImporter::symbol(const Field& field, std::string_view name) {
  return model_.symbols().intern(as_string(field, name));
}

}  // namespace assay::onnx
