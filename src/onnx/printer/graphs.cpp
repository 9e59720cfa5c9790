#include <algorithm>

#include "base/error.h"
#include "onnx/parser/lexer.h"
#include "onnx/printer/printer.h"
#include "onnx/printer/words.h"

namespace assay::onnx {

using ir::GraphId;
using ir::NodeId;
using ir::ValueId;

void TextPrinter::append_line() {
  out_ += '\n';
  out_.append(3 * static_cast<size_t>(depth_), ' ');
}

std::string_view TextPrinter::name_of(ValueId value) const {
  return value ? model_.text(model_[value].name) : std::string_view();
}

std::vector<ValueId> TextPrinter::output_values(GraphId id) const {
  std::vector<ValueId> values;
  for (const ir::Use& use : model_.outputs(id)) values.push_back(use.value);
  return values;
}

bool TextPrinter::is_output(ValueId value) const {
  const NodeId outputs = model_[model_[value].graph].outputs_node;
  for (const ir::Use& use : ir::uses(model_, value)) {
    if (use.user == outputs) return true;
  }
  return false;
}

void TextPrinter::append_graph(GraphId id) {
  append_name(out_, model_.text(model_[id].name));
  out_ += ' ';
  append_named_types(model_[id].inputs);
  out_ += " => ";
  append_named_types(output_values(id));
  append_descriptions(id, model_[id].doc);
  append_nodes(id);
}

void TextPrinter::append_named_types(std::span<const ValueId> values) {
  out_ += '(';
  append_list(out_, values,
              [&](ValueId id) { types_.append_named(out_, id ? model_[id].type : ir::TypeId{}, name_of(id)); });
  out_ += ')';
}

// Documentation, initializers, and types of values that are neither inputs nor outputs, a line for each.
void TextPrinter::append_descriptions(GraphId id, std::string_view doc) {
  bool is_first = true;
  ++depth_;
  if (!doc.empty()) {
    append_description(is_first);
    out_ += "doc_string: ";
    append_quoted(out_, doc);
  }
  for (const ValueId value : model_[id].initializers) {
    append_description(is_first);
    tensors_.append_initializer(out_, model_[model_[value].constant], name_of(value));
  }
  append_value_types(id, is_first);
  --depth_;
  if (!is_first) {
    append_line();
    out_ += '>';
  }
  out_ += ' ';
}

void TextPrinter::append_description(bool& is_first) {
  out_ += is_first ? " <" : ",";
  is_first = false;
  append_line();
}

void TextPrinter::append_value_types(GraphId id, bool& is_first) {
  const auto append = [&](ValueId value) {
    if (!value || !model_[value].type || is_output(value)) return;
    append_description(is_first);
    types_.append_named(out_, model_[value].type, name_of(value));
  };
  for (const ValueId value : model_[id].initializers) {
    if (model_[value].kind == ir::ValueKind::initializer) append(value);
  }
  for (const NodeId node : ir::nodes(model_, id)) std::ranges::for_each(model_[node].results, append);
}

void TextPrinter::append_nodes(GraphId id) {
  if (depth_ == kMaxTextDepth) fail(ErrorCode::limit, "bodies are nested more than {} deep", kMaxTextDepth);
  out_ += '{';
  ++depth_;
  for (const NodeId node : ir::nodes(model_, id)) {
    append_line();
    append_node(model_[node]);
  }
  --depth_;
  append_line();
  out_ += '}';
}

// Attributes stand behind the operands where one of them is a body, as that is long.
void TextPrinter::append_node(const ir::Node& node) {
  if (!node.name.empty()) {
    out_ += '[';
    append_name(out_, node.name);
    out_ += "] ";
  }
  append_list(out_, node.results, [&](ValueId id) { append_name(out_, name_of(id)); });
  out_ += node.results.empty() ? "= " : " = ";
  append_operator(node);
  const bool has_bodies =
      std::ranges::any_of(node.attributes, [](const ir::Attribute& a) { return !a.graphs().empty(); });
  if (!has_bodies) append_attributes(node.attributes);
  out_ += " (";
  append_list(out_, node.operands, [&](const ir::Use& use) { append_name(out_, name_of(use.value)); });
  out_ += ')';
  if (has_bodies) append_attributes(node.attributes);
}

void TextPrinter::append_operator(const ir::Node& node) {
  const std::string_view domain = model_.text(node.domain);
  if (!domain.empty()) {
    append_dotted(out_, domain);
    out_ += '.';
  }
  append_word(out_, model_.text(node.op));
  if (node.overload == ir::kEmpty) return;
  out_ += ':';
  append_word(out_, model_.text(node.overload));
}

}  // namespace assay::onnx
