#include "onnx/export/header.h"

#include <algorithm>
#include <array>

#include "onnx/export/source_fields.h"
#include "onnx/fields.h"

namespace assay::onnx {
namespace {

// In the order of their numbers, in which others write and some (OpenVINO) want to read.
constexpr std::array kHeaderFields = {field::model::ir_version,       field::model::producer_name,
                                      field::model::producer_version, field::model::domain,
                                      field::model::model_version,    field::model::doc_string,
                                      field::model::opset_import,     field::model::metadata_props};

}  // namespace

bool HeaderExporter::is_header(uint32_t number) {
  return std::ranges::find(kHeaderFields, number) != kHeaderFields.end();
}

void HeaderExporter::before_graph(Rope& rope) {
  for (const uint32_t number : kHeaderFields) {
    if (number < field::model::graph) write_once(rope, number);
  }
}

void HeaderExporter::rest(Rope& rope) {
  for (const uint32_t number : kHeaderFields) write_once(rope, number);
}

void HeaderExporter::write_once(Rope& rope, uint32_t number) {
  if (std::ranges::find(written_, number) != written_.end()) return;
  written_.push_back(number);
  write(rope, number);
}

void HeaderExporter::write(Rope& rope, uint32_t number) {
  const ir::Header& header = model_.header();
  switch (number) {
    case field::model::ir_version:
      return number_field(rope, number, versions_.ir != 0 ? versions_.ir : header.ir_version, true);
    case field::model::model_version:
      return number_field(rope, number, header.model_version, false);
    case field::model::producer_name:
      return kept_text(rope, source(), number, header.producer_name);
    case field::model::producer_version:
      return kept_text(rope, source(), number, header.producer_version);
    case field::model::domain:
      return kept_text(rope, source(), number, header.domain);
    case field::model::doc_string:
      return kept_text(rope, source(), number, header.doc);
    case field::model::opset_import:
      return opset_imports(rope);
    default:
      return metadata(rope);
  }
}

void HeaderExporter::number_field(Rope& rope, uint32_t number, int64_t value, bool is_needed) {
  Field field;
  const bool was_there = source() && find_field(*source(), number, field);
  if (was_there && as_int(field, "number") == value) return rope.borrow(field.whole);
  if (value != 0 || is_needed) rope.int_field(number, value);
}

void HeaderExporter::opset_imports(Rope& rope) {
  std::vector<ir::OpsetImport> imports = model_.header().opset_imports;
  for (ir::OpsetImport& import : imports) {
    const bool is_onnx = model_.text(import.domain).empty() || model_.text(import.domain) == "ai.onnx";
    if (versions_.opset != 0 && is_onnx) import.version = versions_.opset;
  }
  write_opset_imports(rope, field::model::opset_import, model_, source(), imports);
}

void HeaderExporter::metadata(Rope& rope) {
  constexpr uint32_t number = field::model::metadata_props;
  const SourceFields known = source() ? SourceFields(*source(), number, entry_key) : SourceFields();
  size_t place = 0;
  for (const auto& [key, value] : model_.header().metadata) {
    if (const Field* old = known.find(place++, entry_key(key, value))) {
      rope.borrow(old->whole);
      continue;
    }
    Rope entry;
    entry.text_field(field::entry::key, key);
    entry.text_field(field::entry::value, value);
    rope.message_field(number, std::move(entry));
  }
}

const Message* HeaderExporter::source() {
  if (!model_.source()) return nullptr;
  root_ = {model_.source()->bytes(), model_.source()->bytes().data()};
  return &root_;
}

void write_opset_imports(Rope& rope, uint32_t number, const ir::Model& model, const Message* source,
                         const std::vector<ir::OpsetImport>& imports) {
  const SourceFields known = source ? SourceFields(*source, number, opset_key) : SourceFields();
  size_t place = 0;
  for (const ir::OpsetImport& item : imports) {
    if (const Field* old = known.find(place++, opset_key(model.text(item.domain), item.version))) {
      rope.borrow(old->whole);
      continue;
    }
    Rope content;
    content.text_field(field::opset::domain, model.text(item.domain));
    content.int_field(field::opset::version, item.version);
    rope.message_field(number, std::move(content));
  }
}

}  // namespace assay::onnx
