#include "onnx/import/tensor_data.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/error.h"
#include "onnx/fields.h"

namespace assay::onnx {
namespace {

using tensor::DType;

bool is_complex(DType dtype) { return tensor::kind(dtype) == tensor::DTypeKind::complex; }

bool is_fixed(uint32_t field) { return field == field::tensor::float_data || field == field::tensor::double_data; }

WireType single_type(uint32_t number) {
  switch (number) {
    case field::tensor::float_data:
      return WireType::fixed32;
    case field::tensor::double_data:
      return WireType::fixed64;
    case field::tensor::string_data:
      return WireType::bytes;
    default:
      return WireType::varint;
  }
}

// Entries of a packed run of varints; Error (parse) if one of them does not end.
uint64_t count_varints(Bytes packed) {
  constexpr size_t kMostBytes = 10;
  uint64_t count = 0;
  size_t length = 0;
  for (const std::byte byte : packed) {
    const bool ends = static_cast<uint8_t>(byte) < 0x80;
    if (++length > kMostBytes) fail_packed("tensor data");
    count += ends;
    if (ends) length = 0;
  }
  if (length != 0) fail_packed("tensor data");
  return count;
}

// Checks the field as a whole, so that decoding it later cannot fail.
uint64_t count_entries(const Field& field, uint32_t number) {
  if (field.type == single_type(number)) return 1;
  if (field.type != WireType::bytes) fail_wire_type(field, "tensor data");
  if (!is_fixed(number)) return count_varints(field.payload);
  const size_t size = number == field::tensor::float_data ? 4 : 8;
  if (field.payload.size() % size != 0) fail_packed("tensor data");
  return field.payload.size() / size;
}

// Bytes that one entry of the typed field contributes to the packed form.
uint32_t entry_bytes(DType dtype) {
  if (is_complex(dtype)) return tensor::bit_width(dtype) / 16;
  return std::max(tensor::bit_width(dtype) / 8, 1u);
}

class TypedStorage : public tensor::Storage {
 public:
  TypedStorage(std::shared_ptr<const MappedFile> file, TypedData data, DType dtype, uint64_t count)
      : file_(std::move(file)), data_(std::move(data)), dtype_(dtype), count_(count) {}

  uint64_t size_bytes() const override { return tensor::packed_bytes(dtype_, count_).value_or(0); }
  Bytes bytes() const override {
    std::call_once(once_, [this] { decode(); });
    return bytes_;
  }

 private:
  void decode() const;
  void append(uint64_t bits) const {
    const uint32_t size = entry_bytes(dtype_);
    const std::byte* begin = reinterpret_cast<const std::byte*>(&bits);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }
  void pack_six_bits() const;

  std::shared_ptr<const MappedFile> file_;
  TypedData data_;
  DType dtype_;
  uint64_t count_;
  mutable std::once_flag once_;
  mutable std::vector<std::byte> bytes_;
};

void TypedStorage::decode() const {
  const uint32_t number = typed_field(dtype_);
  bytes_.clear();
  bytes_.reserve(typed_entries(dtype_, count_) * entry_bytes(dtype_));
  for (const Field& field : data_.fields) {
    if (number == field::tensor::float_data) {
      for_each_fixed<uint32_t>(field, "float_data", [this](uint32_t bits) { append(bits); });
    } else if (number == field::tensor::double_data) {
      for_each_fixed<uint64_t>(field, "double_data", [this](uint64_t bits) { append(bits); });
    } else {
      for_each_varint(field, "tensor data", [this](uint64_t bits) { append(bits); });
    }
  }
  if (tensor::bit_width(dtype_) == 6) pack_six_bits();
}

// int32_data holds one 6-bit element an entry; the packed form is an LSB-first bit stream.
void TypedStorage::pack_six_bits() const {
  std::vector<std::byte> packed(size_bytes());
  for (size_t i = 0; i < bytes_.size(); ++i) {
    const unsigned bits = static_cast<unsigned>(bytes_[i]) & 0x3F;
    const size_t bit = i * 6;
    packed[bit / 8] |= static_cast<std::byte>(bits << bit % 8);
    if (bit % 8 > 2) packed[bit / 8 + 1] |= static_cast<std::byte>(bits >> (8 - bit % 8));
  }
  bytes_ = std::move(packed);
}

class TypedStrings : public tensor::Storage {
 public:
  TypedStrings(std::shared_ptr<const MappedFile> file, TypedData data)
      : file_(std::move(file)), data_(std::move(data)) {}

  uint64_t size_bytes() const override {
    uint64_t size = 0;
    for (const Field& field : data_.fields) size += field.payload.size();
    return size;
  }
  Bytes bytes() const override { return {}; }
  std::span<const std::string> strings() const override {
    std::call_once(once_, [this] {
      for (const Field& field : data_.fields) strings_.emplace_back(as_string(field, "string_data"));
    });
    return strings_;
  }

 private:
  std::shared_ptr<const MappedFile> file_;
  TypedData data_;
  mutable std::once_flag once_;
  mutable std::vector<std::string> strings_;
};

// True if the packed run can be used where it stands: same width in the field as in memory.
bool is_in_place(const TypedData& data, DType dtype) {
  return data.fields.size() == 1 && data.fields[0].type == WireType::bytes && is_fixed(typed_field(dtype));
}

}  // namespace

uint32_t typed_field(DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::complex64:
      return field::tensor::float_data;
    case DType::float64:
    case DType::complex128:
      return field::tensor::double_data;
    case DType::int64:
      return field::tensor::int64_data;
    case DType::uint32:
    case DType::uint64:
      return field::tensor::uint64_data;
    case DType::string:
      return field::tensor::string_data;
    default:
      return field::tensor::int32_data;
  }
}

uint64_t typed_entries(DType dtype, uint64_t count) {
  if (is_complex(dtype)) return count * 2;
  const uint32_t bits = tensor::bit_width(dtype);
  const uint32_t per_entry = bits == 4 ? 2 : bits == 2 ? 4 : 1;
  return count / per_entry + (count % per_entry != 0);
}

tensor::StoragePtr make_typed_storage(std::shared_ptr<const MappedFile> file, TypedData data, DType dtype,
                                      uint64_t count) {
  const uint32_t number = typed_field(dtype);
  uint64_t found = 0;
  for (const Field& field : data.fields) {
    if (field.number != number) fail(ErrorCode::parse, "its data is of another type than {}", tensor::name(dtype));
    found += count_entries(field, number);
  }
  if (found != typed_entries(dtype, count)) {
    fail(ErrorCode::parse, "the shape needs {} data entries, the file has {}", typed_entries(dtype, count), found);
  }
  if (dtype == DType::string) return std::make_shared<TypedStrings>(std::move(file), std::move(data));
  if (!is_in_place(data, dtype)) {
    return std::make_shared<TypedStorage>(std::move(file), std::move(data), dtype, count);
  }
  const Bytes payload = data.fields[0].payload;
  const uint64_t offset = static_cast<uint64_t>(payload.data() - file->bytes().data());
  return tensor::make_mapped(std::move(file), offset, payload.size());
}

}  // namespace assay::onnx
