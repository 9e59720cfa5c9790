#include "onnx/import/graph.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/verify.h"
#include "onnx/fields.h"
#include "onnx/import/read_window.h"

namespace assay::onnx {

using ir::GraphId;
using ir::NodeId;
using ir::Symbol;
using ir::ValueId;

ir::OpsetImport import_opset(ir::SymbolTable& symbols, const Message& message) {
  ir::OpsetImport opset;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::opset::domain) opset.domain = symbols.intern(as_string(field, "domain"));
    if (field.number == field::opset::version) opset.version = as_int(field, "version");
  }
  return opset;
}

GraphId GraphImporter::import_graph(const Message& message) {
  constexpr Numbers numbers = {field::graph::input, field::graph::node};
  const GraphId id = edit_.add_graph();
  const size_t mark = replaced_.size();
  edit_.graph(id).source = range_of(message);
  declare_definitions(message, numbers, id);
  std::vector<Message> outputs;
  ReadWindow window(*model_.source(), message);
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    window.pass(field.whole);
    if (field.number == field::graph::node) continue;
    declare_graph_part(message, field, id);
    if (field.number != field::graph::output) continue;
    outputs.push_back(as_message(message, field, "output"));
    describe(outputs.back(), id);
  }
  describe_all(message, field::graph::value_info, id);
  resolve_nodes(message, id);
  std::vector<ValueId> values;
  for (const Message& output : outputs) values.push_back(resolve_output(output, id));
  edit_.set_outputs(id, values);
  leave_scope(mark);
  if (id == model_.main_graph()) visible_ = {};
  return id;
}

// Nodes and inputs; initializers come later because one of them may be the default of an input.
void GraphImporter::declare_definitions(const Message& message, Numbers numbers, GraphId graph) {
  ReadWindow window(*model_.source(), message);
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == numbers.node) declare_node(as_message(message, field, "node"), graph);
    if (field.number == numbers.input) declare_input(as_message(message, field, "input"), graph);
    window.pass(field.whole);
  }
}

void GraphImporter::declare_graph_part(const Message& message, const Field& field, GraphId graph) {
  switch (field.number) {
    case field::graph::name:
      edit_.graph(graph).name = symbol(field, "name");
      break;
    case field::graph::doc_string:
      edit_.graph(graph).doc = as_string(field, "doc_string");
      break;
    case field::graph::initializer:
      declare_initializer(tensors_.import(as_message(message, field, "initializer")), graph);
      break;
    case field::graph::sparse_initializer:
      declare_initializer(tensors_.import_sparse(as_message(message, field, "sparse_initializer")), graph);
      break;
    default:
      break;
  }
}

void GraphImporter::declare_input(const Message& message, GraphId graph) {
  Symbol name = ir::kEmpty;
  ir::TypeId type;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::value_info::name) name = symbol(field, "name");
    if (field.number == field::value_info::type) type = types_.import(as_message(message, field, "type"));
  }
  bind(name, edit_.add_input(graph, name, type));
}

// An initializer that has the name of an input is the input's default.
void GraphImporter::declare_initializer(ir::TensorEntry tensor, GraphId graph) {
  const Symbol name = edit_.intern(tensor.name);
  const ir::TensorId id = edit_.add_tensor(std::move(tensor));
  const ValueId known = lookup(name);
  if (known && model_[known].graph == graph && model_[known].kind == ir::ValueKind::input && !model_[known].constant) {
    edit_.set_default(known, id);
  } else {
    bind(name, edit_.add_initializer(graph, name, id));
  }
}

void GraphImporter::declare_node(const Message& message, GraphId graph) {
  ir::NodeSpec spec;
  names_.clear();
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case field::node::output:
        names_.push_back(value_name(field, last_result_));
        break;
      case field::node::name:
        spec.name = as_string(field, "name");
        break;
      case field::node::op_type:
        spec.op = symbol(field, "op_type");
        break;
      case field::node::domain:
        spec.domain = symbol(field, "domain");
        break;
      case field::node::overload:
        spec.overload = symbol(field, "overload");
        break;
      default:
        break;
    }
  }
  spec.results = names_;
  spec.source = range_of(message);
  const NodeId node = edit_.add_node(graph, spec);
  for (const ValueId result : model_[node].results) {
    if (result) bind(model_[result].name, result);
  }
}

void GraphImporter::describe_all(const Message& message, uint32_t number, GraphId graph) {
  ReadWindow window(*model_.source(), message);
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == number) describe(as_message(message, field, "value_info"), graph);
    window.pass(field.whole);
  }
}

void GraphImporter::describe(const Message& message, GraphId graph) {
  Symbol name = ir::kEmpty;
  ir::TypeId type;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::value_info::name) name = value_name(field, last_result_);
    if (field.number == field::value_info::type) type = types_.import(as_message(message, field, "type"));
  }
  const ValueId value = lookup(name);
  if (value && type && model_[value].graph == graph) describe_value(value, type);
}

// The first description counts; a second one that contradicts it is a finding.
void GraphImporter::describe_value(ValueId value, ir::TypeId type) {
  const ir::TypeId known = model_[value].type;
  if (!known) return edit_.set_type(value, type);
  if (model_.types().refines(known, type) || model_.types().refines(type, known)) return;
  const std::string name = printable(model_.text(model_[value].name));
  findings_.warn("type_conflict", name, fmt::format("tensor `{}` is described with two types that differ", name));
}

void GraphImporter::resolve_nodes(const Message& message, GraphId graph) {
  ReadWindow window(*model_.source(), message);
  for (NodeId node = model_[graph].first; node; node = model_[node].next) {
    const ir::SourceRange& source = model_[node].source;
    const Bytes bytes(message.origin + source.offset + source.header, source.size - source.header);
    const Message content{bytes, message.origin, message.depth + 1, static_cast<uint8_t>(source.header)};
    with_frame([&] { return ir::describe(model_, node); }, [&] { resolve_node(content, node); });
    window.pass(bytes);
  }
}

void GraphImporter::resolve_node(const Message& message, NodeId node) {
  const GraphId graph = model_[node].graph;
  operands_.clear();
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number != field::node::input) continue;
    Symbol& last = operands_.empty() ? last_first_ : last_other_;
    operands_.push_back(resolve(value_name(field, last), graph));
  }
  edit_.set_operands(node, operands_);
  std::vector<ir::Attribute> attributes;
  FieldReader again(message);
  for (Field field; again.next(field);) {
    if (field.number != field::node::attribute) continue;
    attributes.push_back(attributes_.import(as_message(message, field, "attribute"),
                                            [this](const Message& body) { return import_graph(body); }));
  }
  if (!attributes.empty()) edit_.set_attributes(node, attributes);
}

ValueId GraphImporter::resolve_output(const Message& message, GraphId graph) {
  Symbol name = ir::kEmpty;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::value_info::name) name = symbol(field, "name");
  }
  return resolve(name, graph);
}

void GraphImporter::import_function(const Message& message) {
  ir::Function function;
  function.source = range_of(message);
  function.body = edit_.add_graph();
  const size_t mark = replaced_.size();
  FieldReader reader(message);
  for (Field field; reader.next(field);) read_function_header(message, field, function);
  edit_.graph(function.body).name = function.name;
  edit_.graph(function.body).source = function.source;
  declare_definitions(message, {0, field::function::node}, function.body);
  describe_all(message, field::function::value_info, function.body);
  resolve_nodes(message, function.body);
  read_function_outputs(message, function.body);
  edit_.add_function(std::move(function));
  leave_scope(mark);
}

void GraphImporter::read_function_header(const Message& message, const Field& field, ir::Function& function) {
  switch (field.number) {
    case field::function::name:
      function.name = symbol(field, "name");
      break;
    case field::function::domain:
      function.domain = symbol(field, "domain");
      break;
    case field::function::overload:
      function.overload = symbol(field, "overload");
      break;
    case field::function::doc_string:
      function.doc = as_string(field, "doc_string");
      break;
    case field::function::attribute:
      function.attribute_names.push_back(symbol(field, "attribute"));
      break;
    case field::function::attribute_proto:
      function.attribute_defaults.push_back(attributes_.import(
          as_message(message, field, "attribute_proto"), [this](const Message& body) { return import_graph(body); }));
      break;
    case field::function::opset_import:
      function.opset_imports.push_back(import_opset(model_.symbols(), as_message(message, field, "opset_import")));
      break;
    case field::function::input: {
      const Symbol name = symbol(field, "input");
      bind(name, edit_.add_input(function.body, name));
      break;
    }
    default:
      break;
  }
}

void GraphImporter::read_function_outputs(const Message& message, GraphId body) {
  operands_.clear();
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::function::output) operands_.push_back(resolve(symbol(field, "output"), body));
  }
  edit_.set_outputs(body, operands_);
}

// The first definition of a name in a graph keeps it; ir::verify reports the second one.
void GraphImporter::bind(Symbol name, ValueId value) {
  if (name == ir::kEmpty) return;
  if (visible_.size() <= name.index) visible_.resize(model_.symbols().size());
  ValueId& slot = visible_[name.index];
  if (slot && model_[slot].graph == model_[value].graph) return;
  if (model_[value].graph != model_.main_graph()) replaced_.emplace_back(name, slot);
  slot = value;
}

ValueId GraphImporter::lookup(Symbol name) const {
  return name.index < visible_.size() ? visible_[name.index] : ValueId{};
}

ValueId GraphImporter::resolve(Symbol name, GraphId graph) {
  if (name == ir::kEmpty) return {};
  const ValueId known = lookup(name);
  if (known) return known;
  const ValueId value = edit_.add_undefined(graph, name);
  bind(name, value);
  return value;
}

void GraphImporter::leave_scope(size_t mark) {
  for (; replaced_.size() > mark; replaced_.pop_back())
    visible_[replaced_.back().first.index] = replaced_.back().second;
}

// Files name values in the order of their definition, so the next name is most often the next symbol: that is looked at
// before the table is searched, which costs several cache misses in a large model.
Symbol GraphImporter::value_name(const Field& field, Symbol& last) {
  const std::string_view text = as_string(field, "name");
  const Symbol next{last.index + 1};
  const bool is_next = next.index < model_.symbols().size() && model_.text(next) == text;
  last = is_next ? next : model_.symbols().intern(text);
  return last;
}

Symbol GraphImporter::symbol(const Field& field, std::string_view name) {
  return model_.symbols().intern(as_string(field, name));
}

}  // namespace assay::onnx
