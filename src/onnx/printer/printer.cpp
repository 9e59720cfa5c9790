#include "onnx/printer/printer.h"

#include "onnx/printer/words.h"

namespace assay::onnx {

std::string TextPrinter::run() {
  append_header();
  if (model_.graph_slots() == 0) return std::move(out_) + "\"\" () => () {\n}\n";
  append_graph(model_.main_graph());
  out_ += '\n';
  for (const ir::Function& function : model_.functions()) append_function(function);
  return std::move(out_);
}

void TextPrinter::append_header() {
  const ir::Header& header = model_.header();
  out_ += "<\n   ir_version: ";
  append_number(out_, header.ir_version);
  out_ += ",\n   opset_import: ";
  append_opsets(header.opset_imports);
  append_text_field("producer_name", header.producer_name);
  append_text_field("producer_version", header.producer_version);
  append_text_field("domain", header.domain);
  if (header.model_version != 0) {
    out_ += ",\n   model_version: ";
    append_number(out_, header.model_version);
  }
  append_text_field("doc_string", header.doc);
  if (!header.metadata.empty()) append_metadata();
  out_ += "\n>\n";
}

void TextPrinter::append_text_field(std::string_view key, std::string_view text) {
  if (text.empty()) return;
  out_.append(",\n   ").append(key).append(": ");
  append_quoted(out_, text);
}

void TextPrinter::append_opsets(std::span<const ir::OpsetImport> opsets) {
  out_ += '[';
  append_list(out_, opsets, [&](const ir::OpsetImport& opset) {
    append_quoted(out_, model_.text(opset.domain));
    out_ += " : ";
    append_number(out_, opset.version);
  });
  out_ += ']';
}

void TextPrinter::append_metadata() {
  out_ += ",\n   metadata_props: [";
  append_list(out_, model_.header().metadata, [&](const std::pair<std::string, std::string>& entry) {
    append_quoted(out_, entry.first);
    out_ += ": ";
    append_quoted(out_, entry.second);
  });
  out_ += ']';
}

void TextPrinter::append_function(const ir::Function& function) {
  append_function_header(function);
  append_name(out_, model_.text(function.name));
  out_ += ' ';
  append_function_attributes(function);
  append_named_types(model_[function.body].inputs);
  out_ += " => ";
  append_named_types(output_values(function.body));
  append_descriptions(function.body, "");
  append_nodes(function.body);
  out_ += '\n';
}

void TextPrinter::append_function_header(const ir::Function& function) {
  out_ += "<\n   opset_import: ";
  append_opsets(function.opset_imports);
  append_text_field("domain", model_.text(function.domain));
  append_text_field("overload", model_.text(function.overload));
  append_text_field("doc_string", function.doc);
  out_ += "\n>\n";
}

void TextPrinter::append_function_attributes(const ir::Function& function) {
  if (function.attribute_names.empty() && function.attribute_defaults.empty()) return;
  out_ += '<';
  append_list(out_, function.attribute_names, [&](ir::Symbol name) { append_word(out_, model_.text(name)); });
  if (!function.attribute_names.empty() && !function.attribute_defaults.empty()) out_ += ", ";
  append_list(out_, function.attribute_defaults, [&](const ir::Attribute& item) { append_attribute(item); });
  out_ += "> ";
}

std::string to_text(const ir::Model& model, const TextOptions& options) { return TextPrinter(model, options).run(); }

}  // namespace assay::onnx
