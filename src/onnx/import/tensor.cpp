#include "onnx/import/tensor.h"

#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "onnx/fields.h"

namespace assay::onnx {
namespace {

using tensor::DType;

uint64_t parse_number(std::string_view text, std::string_view key) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ErrorCode::parse, "external data: `{}` is `{}`, expected a number", key, printable(text));
  }
  return value;
}

uint64_t count_elements(const tensor::Shape& dims) {
  const std::optional<uint64_t> count = tensor::element_count(dims);
  if (!count) fail(ErrorCode::parse, "its dims [{}] are negative or too large", fmt::join(dims, ", "));
  return *count;
}

bool is_typed_data(uint32_t number) {
  return (number >= field::tensor::float_data && number <= field::tensor::int64_data) ||
         number == field::tensor::double_data || number == field::tensor::uint64_data;
}

// True if a repeated field carries anything: an empty packed run does not.
bool has_content(const Field& field) {
  return field.type != WireType::bytes || field.number == field::tensor::string_data || !field.payload.empty();
}

}  // namespace

ir::TensorEntry TensorImporter::import(const Message& message) {
  Parts parts;
  return with_frame([&] { return fmt::format("tensor `{}`", printable(parts.name)); },
                    [&] {
                      read(message, parts);
                      const uint64_t count = count_elements(parts.dims);
                      ir::TensorEntry result;
                      result.name = parts.name;
                      result.source = range_of(message);
                      result.doc = parts.doc;
                      if (parts.is_external) result.external_location = parts.external.location;
                      result.stripped = is_stripped(parts, count);
                      if (result.stripped) {
                        result.tensor = tensor::make_stripped(parts.dtype, std::move(parts.dims));
                        return result;
                      }
                      tensor::StoragePtr data = storage(parts, count);
                      result.tensor = tensor::Tensor(parts.dtype, std::move(parts.dims), std::move(data));
                      return result;
                    });
}

void TensorImporter::read(const Message& message, Parts& parts) {
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case field::tensor::name:
        parts.name = as_string(field, "name");
        break;
      case field::tensor::data_type:
        parts.dtype = static_cast<DType>(as_int(field, "data_type"));
        break;
      case field::tensor::dims:
        for_each_varint(field, "dims", [&](uint64_t dim) { parts.dims.push_back(static_cast<int64_t>(dim)); });
        break;
      case field::tensor::raw_data:
        if (field.type != WireType::bytes) fail_wire_type(field, "raw_data");
        parts.raw = field.payload;
        break;
      case field::tensor::doc_string:
        parts.doc = as_string(field, "doc_string");
        break;
      case field::tensor::segment:
        fail(ErrorCode::unsupported, "it is stored in segments, which no tool writes");
      case field::tensor::data_location:
        parts.is_external = as_int(field, "data_location") == 1;
        break;
      case field::tensor::external_data:
        read_external(as_message(message, field, "external_data"), parts.external);
        break;
      default:
        if (is_typed_data(field.number) && has_content(field)) parts.typed.fields.push_back(field);
    }
  }
}

void TensorImporter::read_external(const Message& message, ExternalReference& reference) {
  std::string_view key, value;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::entry::key) key = as_string(field, "key");
    if (field.number == field::entry::value) value = as_string(field, "value");
  }
  if (key == "location") reference.location = value;
  if (key == "offset") reference.offset = parse_number(value, key);
  if (key == "length") reference.length = parse_number(value, key);
}

// True if the file says of a tensor without data that they were taken out.
bool TensorImporter::is_stripped(const Parts& parts, uint64_t count) {
  const bool has_data = parts.is_external || !parts.typed.fields.empty() || (parts.raw && !parts.raw->empty());
  const bool is_marked = parts.doc.find(ir::kWeightless) != std::string_view::npos;
  return is_marked && !has_data && tensor::packed_bytes(parts.dtype, count).value_or(0) > 0;
}

tensor::StoragePtr TensorImporter::storage(Parts& parts, uint64_t count) {
  if (parts.is_external) return external_storage(parts, count);
  if (parts.raw && (!parts.raw->empty() || parts.typed.fields.empty())) return raw_storage(parts, count);
  return make_typed_storage(file_, std::move(parts.typed), parts.dtype, count);
}

tensor::StoragePtr TensorImporter::raw_storage(const Parts& parts, uint64_t count) {
  if (parts.dtype == DType::string) fail(ErrorCode::parse, "strings cannot be stored as raw data");
  if (tensor::is_known(parts.dtype)) {
    const std::optional<uint64_t> needed = tensor::packed_bytes(parts.dtype, count);
    if (needed != parts.raw->size()) {
      fail(ErrorCode::parse, "{} elements of {} do not fit its {} bytes of data", count, tensor::name(parts.dtype),
           parts.raw->size());
    }
  }
  const uint64_t offset = static_cast<uint64_t>(parts.raw->data() - file_->bytes().data());
  return tensor::make_mapped(file_, offset, parts.raw->size());
}

tensor::StoragePtr TensorImporter::external_storage(const Parts& parts, uint64_t count) {
  if (parts.dtype == DType::string) fail(ErrorCode::parse, "strings cannot be stored as external data");
  const bool is_known = tensor::is_known(parts.dtype);
  const std::optional<uint64_t> needed = is_known ? tensor::packed_bytes(parts.dtype, count) : parts.external.length;
  if (is_known && !needed) fail(ErrorCode::parse, "{} elements of {} are too many", count, tensor::name(parts.dtype));
  if (!options_.ignore_external_data) return external_.open(parts.external, needed);
  check_location(parts.external.location);
  return make_unread(parts.external.location, needed.value_or(0));
}

ir::TensorEntry TensorImporter::import_sparse(const Message& message) {
  std::shared_ptr<ir::SparseTensor> sparse = std::make_shared<ir::SparseTensor>();
  ir::TensorEntry result;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::sparse_tensor::values) {
      ir::TensorEntry values = import(as_message(message, field, "values"));
      result.name = values.name;
      if (!values.external_location.empty()) result.external_location = values.external_location;
      sparse->values = std::move(values.tensor);
    } else if (field.number == field::sparse_tensor::indices) {
      ir::TensorEntry indices = import(as_message(message, field, "indices"));
      if (result.external_location.empty()) result.external_location = indices.external_location;
      sparse->indices = std::move(indices.tensor);
    } else if (field.number == field::sparse_tensor::dims) {
      for_each_varint(field, "dims", [&](uint64_t dim) { sparse->dims.push_back(static_cast<int64_t>(dim)); });
    }
  }
  count_elements(sparse->dims);
  result.sparse = std::move(sparse);
  result.source = range_of(message);
  return result;
}

}  // namespace assay::onnx
