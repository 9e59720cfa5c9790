#include "onnx/parser/attributes.h"

#include "onnx/printer/printer.h"
#include "onnx/printer/words.h"

namespace assay::onnx {

using ir::Attribute;
using ir::AttributeType;

void TextPrinter::append_attributes(std::span<const Attribute> attributes) {
  if (attributes.empty()) return;
  out_ += " <";
  append_list(out_, attributes, [&](const Attribute& attribute) { append_attribute(attribute); });
  out_ += '>';
}

void TextPrinter::append_attribute(const Attribute& attribute) {
  append_word(out_, model_.text(attribute.name()));
  if (attribute.type() != AttributeType::undefined || !attribute.is_reference()) {
    out_ += ": ";
    out_ += attribute_type_word(attribute.type());
  }
  if (attribute.is_reference()) {
    out_ += " = @";
    append_name(out_, model_.text(attribute.reference_target()));
  } else if (attribute.type() != AttributeType::undefined) {
    out_ += " = ";
    append_value(attribute);
  }
}

void TextPrinter::append_value(const Attribute& attribute) {
  switch (attribute.type()) {
    case AttributeType::floats:
    case AttributeType::integers:
    case AttributeType::strings:
    case AttributeType::tensors:
    case AttributeType::graphs:
    case AttributeType::sparse_tensors:
    case AttributeType::types:
      out_ += '[';
      append_items(attribute);
      out_ += ']';
      break;
    default:
      append_items(attribute);
  }
}

void TextPrinter::append_items(const Attribute& attribute) {
  switch (attribute.type()) {
    case AttributeType::floating:
    case AttributeType::floats:
      return append_list(out_, attribute.floats(), [&](float item) { append_number(out_, item); });
    case AttributeType::integer:
    case AttributeType::integers:
      return append_list(out_, attribute.integers(), [&](int64_t item) { append_number(out_, item); });
    case AttributeType::string:
    case AttributeType::strings:
      return append_list(out_, attribute.strings(), [&](ir::Symbol item) { append_quoted(out_, model_.text(item)); });
    default:
      append_objects(attribute);
  }
}

void TextPrinter::append_objects(const Attribute& attribute) {
  switch (attribute.type()) {
    case AttributeType::graph:
    case AttributeType::graphs:
      return append_list(out_, attribute.graphs(), [&](ir::GraphId item) { append_graph(item); });
    case AttributeType::type:
    case AttributeType::types:
      return append_list(out_, attribute.types(), [&](ir::TypeId item) { append_type(item); });
    default:
      return append_list(out_, attribute.tensors(),
                         [&](ir::TensorId item) { tensors_.append(out_, model_[item], model_[item].name); });
  }
}

void TextPrinter::append_type(ir::TypeId type) {
  if (type) {
    types_.append(out_, type);
  } else {
    out_ += '?';
  }
}

}  // namespace assay::onnx
