#pragma once

#include <string>

#include "onnx/fields.h"
#include "tensor/datum.h"

// Serializes what a model gives, as ONNX's backend tests store values: TensorProto, SequenceProto, MapProto.
namespace assay::support {

inline void append_varint(std::string& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

inline void append_number(std::string& bytes, uint32_t field, int64_t value) {
  append_varint(bytes, uint64_t{field} << 3);
  append_varint(bytes, static_cast<uint64_t>(value));
}

inline void append_bytes(std::string& bytes, uint32_t field, std::string_view content) {
  append_varint(bytes, uint64_t{field} << 3 | 2);
  append_varint(bytes, content.size());
  bytes += content;
}

inline std::string tensor_bytes(const tensor::Tensor& tensor) {
  namespace field = onnx::field::tensor;
  std::string bytes;
  for (const int64_t dim : tensor.shape()) append_number(bytes, field::dims, dim);
  append_number(bytes, field::data_type, static_cast<int64_t>(tensor.dtype()));
  if (tensor.dtype() == tensor::DType::string) {
    for (const std::string& item : tensor.strings()) append_bytes(bytes, field::string_data, item);
    return bytes;
  }
  const Bytes raw = tensor.bytes();
  append_bytes(bytes, field::raw_data, {reinterpret_cast<const char*>(raw.data()), raw.size()});
  return bytes;
}

std::string value_bytes(const tensor::Datum& value);

inline std::string sequence_bytes(const tensor::Datum& value) {
  namespace field = onnx::field::container;
  enum : int64_t { kTensor = 1, kSequence = 3, kMap = 4 };  // SequenceProto.DataType
  const tensor::Datum* first = value.items().empty() ? nullptr : &value.items().front();
  const bool of_maps = first != nullptr && first->is_map();
  const bool of_sequences = first != nullptr && first->is_sequence();
  std::string bytes;
  append_number(bytes, field::elem_type, of_maps ? kMap : of_sequences ? kSequence : kTensor);
  const uint32_t number = of_maps ? field::map : of_sequences ? field::sequence : field::tensor;
  for (const tensor::Datum& item : value.items()) append_bytes(bytes, number, value_bytes(item));
  return bytes;
}

inline std::string map_bytes(const tensor::Datum& value) {
  namespace field = onnx::field::map;
  std::string bytes;
  append_number(bytes, field::key_type, static_cast<int64_t>(value.keys().dtype()));
  if (value.keys().dtype() == tensor::DType::string) {
    for (const std::string& key : value.keys().strings()) append_bytes(bytes, field::string_keys, key);
  } else {
    const Bytes raw = value.keys().bytes();
    const auto* keys = reinterpret_cast<const int64_t*>(raw.data());
    for (uint64_t i = 0; i < value.keys().count(); ++i) append_number(bytes, field::keys, keys[i]);
  }
  std::string values;
  append_number(values, onnx::field::container::elem_type, 1);
  append_bytes(values, onnx::field::container::tensor, tensor_bytes(value.values()));
  append_bytes(bytes, field::values, values);
  return bytes;
}

inline std::string value_bytes(const tensor::Datum& value) {
  if (value.is_none()) return {};
  if (value.is_map()) return map_bytes(value);
  return value.is_sequence() ? sequence_bytes(value) : tensor_bytes(value.tensor());
}

}  // namespace assay::support
