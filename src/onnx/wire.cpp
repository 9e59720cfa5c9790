#include "onnx/wire.h"

#include <bit>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace assay::onnx {
namespace {

constexpr int kGroupEnd = 4;

std::string_view text(WireType type) {
  switch (type) {
    case WireType::varint:
      return "varint";
    case WireType::fixed64:
      return "64-bit";
    case WireType::bytes:
      return "length-delimited";
    case WireType::group:
      return "group";
    case WireType::fixed32:
      return "32-bit";
  }
  return "unknown";
}

}  // namespace

std::optional<uint64_t> take_varint(Bytes& bytes) {
  uint64_t value = 0;
  const size_t limit = bytes.size() < 10 ? bytes.size() : 10;
  for (size_t i = 0; i < limit; ++i) {
    const auto byte = static_cast<uint64_t>(bytes[i]);
    value |= (byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      bytes = bytes.subspan(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

void FieldReader::fail_at(std::string_view what) const { fail(ErrorCode::parse, "byte {}: {}", at_ - origin_, what); }

uint64_t FieldReader::read_long_varint() {
  Bytes rest(at_, end_);
  const std::optional<uint64_t> value = take_varint(rest);
  if (!value) fail_at(end_ - at_ < 10 ? "the file ends within a number" : "a number is longer than 10 bytes");
  at_ = rest.data();
  return *value;
}

uint64_t FieldReader::read_fixed(size_t size) {
  if (static_cast<size_t>(end_ - at_) < size) fail_at("the file ends within a number");
  uint64_t value = 0;
  std::memcpy(&value, at_, size);
  at_ += size;
  return value;
}

void FieldReader::read_content(Field& field) {
  switch (field.type) {
    case WireType::varint:
      field.value = read_varint();
      return;
    case WireType::fixed64:
      field.value = read_fixed(8);
      return;
    case WireType::fixed32:
      field.value = read_fixed(4);
      return;
    case WireType::group:
      return skip_group(field.number);
    case WireType::bytes:
      break;
    default:
      fail_at("not a field of an ONNX file");
  }
  const uint64_t size = read_varint();
  if (size > static_cast<uint64_t>(end_ - at_)) {
    fail(ErrorCode::parse, "byte {}: field {} needs {} bytes, {} are left", at_ - origin_, field.number, size,
         end_ - at_);
  }
  field.payload = {at_, static_cast<size_t>(size)};
  at_ += size;
}

// Groups occur in no version of ONNX; as unknown fields they are skipped, without recursion.
void FieldReader::skip_group(uint32_t number) {
  std::vector<uint32_t> open = {number};
  while (!open.empty()) {
    if (at_ == end_) fail_at("the file ends within a group");
    const uint64_t tag = read_varint();
    if (tag >> 3 == 0 || tag >> 3 > kMaxFieldNumber) fail_at("not a field of an ONNX file");
    Field field;
    field.number = static_cast<uint32_t>(tag >> 3);
    if ((tag & 7) == kGroupEnd) {
      if (field.number != open.back()) fail_at("a group is closed by another one");
      open.pop_back();
    } else if (static_cast<WireType>(tag & 7) == WireType::group) {
      if (open.size() >= kMaxDepth) fail_at("groups are nested too deeply");
      open.push_back(field.number);
    } else {
      field.type = static_cast<WireType>(tag & 7);
      read_content(field);
    }
  }
}

Message child(const Message& parent, const Field& field) {
  if (parent.depth >= kMaxDepth) {
    fail(ErrorCode::parse, "byte {}: messages are nested more than {} deep", field.payload.data() - parent.origin,
         kMaxDepth);
  }
  const auto header = static_cast<uint8_t>(field.payload.data() - field.whole.data());
  return {field.payload, parent.origin, parent.depth + 1, header};
}

void fail_wire_type(const Field& field, std::string_view name) {
  fail(ErrorCode::parse, "field `{}` ({}) has the wire type {}, which does not fit", name, field.number,
       text(field.type));
}

void fail_packed(std::string_view name) { fail(ErrorCode::parse, "field `{}`: its packed numbers are damaged", name); }

int64_t as_int(const Field& field, std::string_view name) {
  if (field.type != WireType::varint) fail_wire_type(field, name);
  return static_cast<int64_t>(field.value);
}

float as_float(const Field& field, std::string_view name) {
  if (field.type != WireType::fixed32) fail_wire_type(field, name);
  return std::bit_cast<float>(static_cast<uint32_t>(field.value));
}

std::string_view as_string(const Field& field, std::string_view name) {
  if (field.type != WireType::bytes) fail_wire_type(field, name);
  return {reinterpret_cast<const char*>(field.payload.data()), field.payload.size()};
}

Message as_message(const Message& parent, const Field& field, std::string_view name) {
  if (field.type != WireType::bytes) fail_wire_type(field, name);
  return child(parent, field);
}

}  // namespace assay::onnx
