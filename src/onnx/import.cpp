#include "onnx/import.h"

#include <utility>

#include "ir/verify.h"
#include "onnx/fields.h"
#include "onnx/import/graph.h"

namespace assay::onnx {
namespace {

std::pair<std::string, std::string> import_entry(const Message& message) {
  std::pair<std::string, std::string> entry;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::entry::key) entry.first = as_string(field, "key");
    if (field.number == field::entry::value) entry.second = as_string(field, "value");
  }
  return entry;
}

void import_header_field(const Message& root, const Field& field, ir::Model& model, ir::Header& header) {
  switch (field.number) {
    case field::model::ir_version:
      header.ir_version = as_int(field, "ir_version");
      break;
    case field::model::producer_name:
      header.producer_name = as_string(field, "producer_name");
      break;
    case field::model::producer_version:
      header.producer_version = as_string(field, "producer_version");
      break;
    case field::model::domain:
      header.domain = as_string(field, "domain");
      break;
    case field::model::model_version:
      header.model_version = as_int(field, "model_version");
      break;
    case field::model::doc_string:
      header.doc = as_string(field, "doc_string");
      break;
    case field::model::opset_import:
      header.opset_imports.push_back(import_opset(model.symbols(), as_message(root, field, "opset_import")));
      break;
    case field::model::metadata_props:
      header.metadata.push_back(import_entry(as_message(root, field, "metadata_props")));
      break;
    default:
      break;
  }
}

}  // namespace

ir::Model import_document(const Document& document, const ImportOptions& options, Diagnostics& findings) {
  ir::Model model;
  ir::Edit edit(model, ir::Edit::Purpose::import);
  edit.set_source(document.file());
  TensorImporter tensors(document.file(), options);
  GraphImporter graphs(model, edit, tensors, findings);
  const Message root = document.root();
  FieldReader header(root);
  for (Field field; header.next(field);) import_header_field(root, field, model, edit.header());
  FieldReader main(root);
  for (Field field; main.next(field);) {
    if (field.number == field::model::graph) graphs.import_graph(as_message(root, field, "graph"));
  }
  FieldReader functions(root);
  for (Field field; functions.next(field);) {
    if (field.number == field::model::functions) graphs.import_function(as_message(root, field, "functions"));
  }
  edit.renumber(ir::verify(model, findings));
  return model;
}

}  // namespace assay::onnx
