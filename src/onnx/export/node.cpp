#include <array>
#include <string_view>

#include "onnx/export/graph.h"
#include "onnx/export/header.h"
#include "onnx/export/source_fields.h"
#include "onnx/fields.h"

namespace assay::onnx {

using ir::AttributeType;
using ir::GraphId;
using ir::NodeId;
using ir::ValueId;

namespace {

// Fields of a NodeProto that the model does not hold: documentation, metadata, devices, what is not known.
bool is_carried(uint32_t number) {
  constexpr uint32_t doc_string = 6;
  return number == doc_string || number > field::node::overload;
}

// Fields of an AttributeProto that the model does not hold.
bool is_carried_attribute(uint32_t number) {
  constexpr uint32_t doc_string = 13;
  const bool is_value = number <= field::attribute::graphs || number == field::attribute::type_proto ||
                        number == field::attribute::type_protos;
  const bool is_late = number >= field::attribute::type && number <= field::attribute::sparse_tensors;
  return number == doc_string || !(is_value || is_late);
}

void carry_attribute_fields(Rope& rope, const Message& source) {
  FieldReader reader(source);
  for (Field field; reader.next(field);) {
    if (is_carried_attribute(field.number)) rope.borrow(field.whole);
  }
}

}  // namespace

Rope GraphExporter::node(NodeId id) {
  const ir::Node& node = model_[id];
  std::optional<Message> message;
  if (node.source.present) message = source_message(model_, node.source);
  const Message* source = message ? &*message : nullptr;
  Rope rope;
  for (const ir::Use& use : node.operands) rope.text_field(field::node::input, name_of(use.value));
  for (const ValueId result : node.results) rope.text_field(field::node::output, name_of(result));
  kept_text(rope, source, field::node::name, node.name);
  kept_text(rope, source, field::node::op_type, model_.text(node.op));
  attribute_list(rope, source, field::node::attribute, node.attributes);
  kept_text(rope, source, field::node::domain, model_.text(node.domain));
  kept_text(rope, source, field::node::overload, model_.text(node.overload));
  if (!source) return rope;
  FieldReader reader(*source);
  for (Field field; reader.next(field);) {
    if (is_carried(field.number)) rope.borrow(field.whole);
  }
  return rope;
}

void GraphExporter::attribute_list(Rope& rope, const Message* source, uint32_t number,
                                   std::span<const ir::Attribute> attributes) {
  const SourceFields known = source ? SourceFields(*source, number, name_key) : SourceFields();
  for (size_t i = 0; i < attributes.size(); ++i) {
    const Field* old = known.find(i, model_.text(attributes[i].name()));
    if (old && is_clean(attributes[i])) {
      rope.borrow(old->whole);
      continue;
    }
    Rope content = attribute(attributes[i]);
    if (old) carry_attribute_fields(content, child(*source, *old));
    rope.message_field(number, std::move(content));
  }
}

Rope GraphExporter::attribute(const ir::Attribute& attribute) {
  Rope rope;
  rope.text_field(field::attribute::name, model_.text(attribute.name()));
  if (attribute.is_reference()) {
    rope.text_field(field::attribute::ref_attr_name, model_.text(attribute.reference_target()));
  } else {
    attribute_numbers(rope, attribute);
    attribute_objects(rope, attribute);
  }
  rope.int_field(field::attribute::type, static_cast<int64_t>(attribute.type()));
  return rope;
}

void GraphExporter::attribute_numbers(Rope& rope, const ir::Attribute& attribute) {
  switch (attribute.type()) {
    case AttributeType::floating:
      rope.float_field(field::attribute::f, attribute.floating());
      break;
    case AttributeType::integer:
      rope.int_field(field::attribute::i, attribute.integer());
      break;
    case AttributeType::string:
      rope.text_field(field::attribute::s, model_.text(attribute.string()));
      break;
    case AttributeType::floats:
      for (const float value : attribute.floats()) rope.float_field(field::attribute::floats, value);
      break;
    case AttributeType::integers:
      for (const int64_t value : attribute.integers()) rope.int_field(field::attribute::ints, value);
      break;
    case AttributeType::strings:
      for (const ir::Symbol text : attribute.strings()) rope.text_field(field::attribute::strings, model_.text(text));
      break;
    default:
      break;
  }
}

void GraphExporter::attribute_objects(Rope& rope, const ir::Attribute& attribute) {
  switch (attribute.type()) {
    case AttributeType::tensor:
    case AttributeType::tensors:
      for (const ir::TensorId id : attribute.tensors()) {
        const bool single = attribute.type() == AttributeType::tensor;
        rope.message_field(single ? field::attribute::t : field::attribute::tensors,
                           tensors_.tensor(model_[id], model_[id].name, false));
      }
      break;
    case AttributeType::sparse_tensor:
    case AttributeType::sparse_tensors:
      for (const ir::TensorId id : attribute.tensors()) {
        const bool single = attribute.type() == AttributeType::sparse_tensor;
        rope.message_field(single ? field::attribute::sparse_tensor : field::attribute::sparse_tensors,
                           tensors_.sparse_tensor(model_[id], model_[id].name));
      }
      break;
    case AttributeType::graph:
    case AttributeType::graphs:
      for (const GraphId id : attribute.graphs()) {
        rope.message_field(attribute.type() == AttributeType::graph ? field::attribute::g : field::attribute::graphs,
                           graph(id));
      }
      break;
    case AttributeType::type:
    case AttributeType::types:
      for (const ir::TypeId id : attribute.types()) {
        const bool single = attribute.type() == AttributeType::type;
        rope.message_field(single ? field::attribute::type_proto : field::attribute::type_protos,
                           id ? tensors_.type(id) : Rope());
      }
      break;
    default:
      break;
  }
}

Rope GraphExporter::function(const ir::Function& function) {
  using E = GraphExporter;
  static constexpr std::array<Section, 11> kSections = {{
      {field::function::name, 0, &E::write_name},
      {field::function::input, 0, &E::write_input_names},
      {field::function::output, 0, &E::write_output_names},
      {field::function::attribute, 0, &E::write_attribute_names},
      {field::function::node, 0, &E::write_nodes},
      {field::function::doc_string, 0, &E::write_doc},
      {field::function::opset_import, 0, &E::write_opsets},
      {field::function::domain, 0, &E::write_domain},
      {field::function::attribute_proto, 0, &E::write_attribute_defaults},
      {field::function::value_info, 0, &E::write_value_infos},
      {field::function::overload, 0, &E::write_overload},
  }};
  return sections_in_order({function.body, &function, &function.source}, kSections);
}

void GraphExporter::write_domain(Rope& rope, const Body& body) {
  const std::optional<Message> source = source_of(body);
  kept_text(rope, source ? &*source : nullptr, field::function::domain, model_.text(body.function->domain));
}

void GraphExporter::write_overload(Rope& rope, const Body& body) {
  const std::optional<Message> source = source_of(body);
  kept_text(rope, source ? &*source : nullptr, field::function::overload, model_.text(body.function->overload));
}

void GraphExporter::write_input_names(Rope& rope, const Body& body) {
  for (const ValueId input : model_[body.id].inputs) rope.text_field(field::function::input, name_of(input));
}

void GraphExporter::write_output_names(Rope& rope, const Body& body) {
  for (const ir::Use& use : model_.outputs(body.id)) rope.text_field(field::function::output, name_of(use.value));
}

void GraphExporter::write_attribute_names(Rope& rope, const Body& body) {
  for (const ir::Symbol name : body.function->attribute_names) {
    rope.text_field(field::function::attribute, model_.text(name));
  }
}

void GraphExporter::write_attribute_defaults(Rope& rope, const Body& body) {
  const std::optional<Message> source = source_of(body);
  attribute_list(rope, source ? &*source : nullptr, field::function::attribute_proto,
                 body.function->attribute_defaults);
}

void GraphExporter::write_opsets(Rope& rope, const Body& body) {
  const std::optional<Message> source = source_of(body);
  write_opset_imports(rope, field::function::opset_import, model_, source ? &*source : nullptr,
                      body.function->opset_imports);
}

}  // namespace assay::onnx
