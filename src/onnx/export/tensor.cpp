#include "onnx/export/tensor.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "onnx/export/source_fields.h"
#include "onnx/fields.h"

namespace assay::onnx {
namespace {

Rope entry(std::string_view key, std::string_view value) {
  Rope rope;
  rope.text_field(field::entry::key, key);
  rope.text_field(field::entry::value, value);
  return rope;
}

// Fields of a TensorProto that the model does not hold: metadata, what is not known.
bool is_carried(uint32_t number) { return number > field::tensor::data_location; }

void carry_fields(Rope& rope, const ir::Model& model, const ir::SourceRange& source) {
  if (!source.present) return;
  FieldReader reader(source_message(model, source));
  for (Field field; reader.next(field);) {
    if (is_carried(field.number)) rope.borrow(field.whole);
  }
}

// The fields of a tensor whose data are in another file.
void refer(Rope& rope, std::string_view file, uint64_t offset, uint64_t size_bytes) {
  rope.message_field(field::tensor::external_data, entry("location", file));
  rope.message_field(field::tensor::external_data, entry("offset", fmt::format("{}", offset)));
  rope.message_field(field::tensor::external_data, entry("length", fmt::format("{}", size_bytes)));
  rope.int_field(field::tensor::data_location, 1);
}

// A part of a file name made from a tensor's name.
std::string file_name(std::string_view name) {
  constexpr size_t kMostBytes = 100;
  std::string result;
  for (const char c : name.substr(0, kMostBytes)) {
    result += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' ? c : '_';
  }
  return result;
}

}  // namespace

bool TensorExporter::is_clean(const ir::TensorEntry& entry, bool is_initializer) const {
  if (entry.dirty || entry.renamed || !entry.source.present || placement_.detached.contains(&entry)) return false;
  return !moves(entry) && !goes_outside(entry, is_initializer);
}

// True if data outside the model must be written anew: the file that holds it may be left behind or replaced.
bool TensorExporter::moves(const ir::TensorEntry& entry) const {
  return !entry.external_location.empty() && (placement_.leaves_folder || !placement_.external_name.empty());
}

// True if the tensor goes outside. One that was outside stays so even if it is not an initializer.
bool TensorExporter::goes_outside(const ir::TensorEntry& entry, bool is_initializer) const {
  const bool may_go = !entry.sparse && !entry.stripped && (is_initializer || !entry.external_location.empty());
  return may_go && !placement_.external_name.empty() && tensor::bit_width(entry.tensor.dtype()) > 0 &&
         entry.tensor.size_bytes() > placement_.threshold;
}

// The source's fields with another name.
Rope TensorExporter::renamed(const Message& source, std::string_view name) const {
  Rope rope;
  FieldReader reader(source);
  for (Field field; reader.next(field);) {
    if (field.number != field::tensor::name) rope.borrow(field.whole);
  }
  if (!name.empty()) rope.text_field(field::tensor::name, name);
  return rope;
}

Rope TensorExporter::reference(const tensor::Tensor& tensor, std::string_view name) const {
  Rope rope;
  header(rope, tensor, name);
  refer(rope, "detached", 0, tensor.size_bytes());
  return rope;
}

Rope TensorExporter::tensor(const ir::TensorEntry& entry, std::string_view name, bool is_initializer) {
  if (placement_.detached.contains(&entry)) return reference(entry.tensor, name);
  const bool keeps_content =
      entry.source.present && !entry.dirty && !moves(entry) && !goes_outside(entry, is_initializer);
  if (keeps_content) return renamed(source_message(model_, entry.source), name);
  Rope rope;
  header(rope, entry.tensor, name);
  if (goes_outside(entry, is_initializer)) {
    place_outside(rope, entry.tensor, name);
  } else if (entry.stripped) {
    rope.text_field(field::tensor::raw_data, "");
  } else {
    encode_content(rope, entry.tensor);
  }
  if (!entry.doc.empty()) rope.text_field(field::tensor::doc_string, entry.doc);
  carry_fields(rope, model_, entry.source);
  return rope;
}

void TensorExporter::header(Rope& rope, const tensor::Tensor& tensor, std::string_view name) const {
  for (const int64_t dim : tensor.shape()) rope.int_field(field::tensor::dims, dim);
  rope.int_field(field::tensor::data_type, static_cast<int32_t>(tensor.dtype()));
  if (!name.empty()) rope.text_field(field::tensor::name, name);
}

void TensorExporter::encode_content(Rope& rope, const tensor::Tensor& tensor) const {
  if (tensor.dtype() == tensor::DType::string) {
    for (const std::string& text : tensor.strings()) rope.text_field(field::tensor::string_data, text);
    return;
  }
  rope.tag(field::tensor::raw_data, 2);
  rope.varint(tensor.size_bytes());
  if (tensor.size_bytes() > 0) rope.borrow(tensor.storage());
}

std::string TensorExporter::new_file_name(std::string_view tensor_name) {
  const std::string base = fmt::format("{}.{}", placement_.external_name, file_name(tensor_name));
  std::string name = base;
  for (size_t i = external_.size(); !file_names_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

void TensorExporter::place_outside(Rope& rope, const tensor::Tensor& tensor, std::string_view name) {
  const uint64_t align = std::max<uint64_t>(placement_.alignment, 1);
  const uint64_t offset = placement_.one_file ? (external_end_ + align - 1) / align * align : 0;
  const std::string file = placement_.one_file ? placement_.external_name : new_file_name(name);
  refer(rope, file, offset, tensor.size_bytes());
  external_.push_back({file, offset, tensor.storage()});
  external_end_ = offset + tensor.size_bytes();
}

Rope TensorExporter::dense(const tensor::Tensor& tensor, std::string_view name) const {
  Rope rope;
  header(rope, tensor, name);
  encode_content(rope, tensor);
  return rope;
}

Rope TensorExporter::sparse_tensor(const ir::TensorEntry& entry, std::string_view name) {
  Rope rope;
  if (!entry.source.present || moves(entry)) {
    rope.message_field(field::sparse_tensor::values, dense(entry.sparse->values, name));
    rope.message_field(field::sparse_tensor::indices, dense(entry.sparse->indices, ""));
    for (const int64_t dim : entry.sparse->dims) rope.int_field(field::sparse_tensor::dims, dim);
    return rope;
  }
  const Message source = source_message(model_, entry.source);
  FieldReader reader(source);
  for (Field field; reader.next(field);) {
    const bool is_values = field.number == field::sparse_tensor::values;
    is_values ? rope.message_field(field.number, renamed(child(source, field), name)) : rope.borrow(field.whole);
  }
  return rope;
}

Rope TensorExporter::shape(const ir::Type& type) const {
  Rope shape;
  for (const ir::DimId dim : type.dims) {
    Rope content;
    const std::optional<int64_t> constant = model_.dims().as_constant(dim);
    if (constant)
      content.int_field(field::dim::value, *constant);
    else if (dim != ir::kUnknownDim)
      content.text_field(field::dim::param, model_.dims().text(dim, model_.symbols()));
    shape.message_field(field::shape::dim, std::move(content));
  }
  return shape;
}

Rope TensorExporter::type(ir::TypeId id) const {
  const ir::Type& type = model_[id];
  Rope content;
  Rope rope;
  switch (type.kind) {
    case ir::TypeKind::tensor:
    case ir::TypeKind::sparse_tensor:
      content.int_field(field::tensor_type::elem_type, static_cast<int32_t>(type.dtype));
      if (type.ranked) content.message_field(field::tensor_type::shape, shape(type));
      rope.message_field(type.kind == ir::TypeKind::tensor ? field::type::tensor : field::type::sparse_tensor,
                         std::move(content));
      break;
    case ir::TypeKind::sequence:
    case ir::TypeKind::optional:
      if (type.element) content.message_field(1, this->type(type.element));
      rope.message_field(type.kind == ir::TypeKind::sequence ? field::type::sequence : field::type::optional,
                         std::move(content));
      break;
    case ir::TypeKind::map:
      content.int_field(field::map_type::key_type, static_cast<int32_t>(type.dtype));
      if (type.element) content.message_field(field::map_type::value_type, this->type(type.element));
      rope.message_field(field::type::map, std::move(content));
      break;
    case ir::TypeKind::opaque:
      content.text_field(field::opaque_type::domain, model_.text(type.domain));
      content.text_field(field::opaque_type::name, model_.text(type.name));
      rope.message_field(field::type::opaque, std::move(content));
  }
  if (type.denotation != ir::kEmpty) rope.text_field(field::type::denotation, model_.text(type.denotation));
  return rope;
}

const std::string& TensorExporter::type_bytes(ir::TypeId id) {
  const auto [entry, is_new] = type_bytes_.try_emplace(id);
  if (!is_new) return entry->second;
  const std::vector<std::byte> bytes = type(id).to_bytes();
  return entry->second.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// A field that holds a ValueInfoProto.
void TensorExporter::value_info(Rope& rope, uint32_t number, std::string_view name, ir::TypeId id) {
  uint64_t size = Rope::text_field_size(field::value_info::name, name);
  if (id) size += Rope::text_field_size(field::value_info::type, type_bytes(id));
  rope.tag(number, 2);
  rope.varint(size);
  rope.text_field(field::value_info::name, name);
  if (id) rope.text_field(field::value_info::type, type_bytes(id));
}

}  // namespace assay::onnx
