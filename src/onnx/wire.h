#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/files.h"

namespace assay::onnx {

enum class WireType : uint8_t { varint = 0, fixed64 = 1, bytes = 2, group = 3, fixed32 = 5 };

// One field of a message as it stands in the file.
struct Field {
  uint32_t number = 0;
  WireType type = WireType::varint;
  uint64_t value = 0;  // of varint, fixed32 and fixed64
  Bytes payload;       // of bytes: without tag and length
  Bytes whole;         // tag, length and content
};

// A message in a mapped file: bytes, where the file begins (for messages about damage), and how deep it is nested.
struct Message {
  Bytes bytes;
  const std::byte* origin = nullptr;
  int depth = 0;
  uint8_t header = 0;  // bytes of tag and length in front of it

  uint64_t offset() const { return static_cast<uint64_t>(bytes.data() - origin); }
};

inline constexpr int kMaxDepth = 100;

// Reads the fields of one message in file order; nothing is decoded that is not asked for. Lengths are 64 bits wide and
// checked against the message's end. Damage throws Error (parse) with the offset in the file.
class FieldReader {
 public:
  explicit FieldReader(Message message)
      : origin_(message.origin), at_(message.bytes.data()), end_(at_ + message.bytes.size()) {}

  bool next(Field& field) {
    if (at_ == end_) return false;
    const std::byte* begin = at_;
    const uint64_t tag = read_varint();
    const uint64_t number = tag >> 3;
    if (number == 0 || number > kMaxFieldNumber) fail_at("not a field of an ONNX file");
    field.number = static_cast<uint32_t>(number);
    field.type = static_cast<WireType>(tag & 7);
    field.value = 0;
    field.payload = {};
    read_content(field);
    field.whole = {begin, at_};
    return true;
  }

 private:
  static constexpr uint32_t kMaxFieldNumber = (1u << 29) - 1;

  uint64_t read_varint() {
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) return static_cast<uint8_t>(*at_++);
    return read_long_varint();
  }
  uint64_t read_long_varint();
  uint64_t read_fixed(size_t size);
  void read_content(Field& field);
  void skip_group(uint32_t number);
  [[noreturn]] void fail_at(std::string_view what) const;

  const std::byte* origin_;
  const std::byte* at_;
  const std::byte* end_;
};

// The message inside a field of type bytes. Error (parse) beyond kMaxDepth.
Message child(const Message& parent, const Field& field);

// The field's content as the named type; Error (parse) where the wire type does not fit. `name` is for the message.
int64_t as_int(const Field& field, std::string_view name);
float as_float(const Field& field, std::string_view name);
std::string_view as_string(const Field& field, std::string_view name);
Message as_message(const Message& parent, const Field& field, std::string_view name);

// Calls fn(uint64_t) for each element of a repeated integer field, packed or not.
template <typename Fn>
void for_each_varint(const Field& field, std::string_view name, Fn&& fn);
// Calls fn(bits) for each element of a repeated fixed-width field of `Bits` (uint32_t, uint64_t), packed or not.
template <typename Bits, typename Fn>
void for_each_fixed(const Field& field, std::string_view name, Fn&& fn);

// Decodes one varint at the front of `bytes` and moves behind it; empty if it is damaged.
std::optional<uint64_t> take_varint(Bytes& bytes);

[[noreturn]] void fail_wire_type(const Field& field, std::string_view name);
[[noreturn]] void fail_packed(std::string_view name);

template <typename Fn>
void for_each_varint(const Field& field, std::string_view name, Fn&& fn) {
  if (field.type == WireType::varint) return fn(field.value);
  if (field.type != WireType::bytes) fail_wire_type(field, name);
  for (Bytes rest = field.payload; !rest.empty();) {
    const std::optional<uint64_t> value = take_varint(rest);
    if (!value) fail_packed(name);
    fn(*value);
  }
}

template <typename Bits, typename Fn>
void for_each_fixed(const Field& field, std::string_view name, Fn&& fn) {
  const WireType single = sizeof(Bits) == 4 ? WireType::fixed32 : WireType::fixed64;
  if (field.type == single) return fn(static_cast<Bits>(field.value));
  if (field.type != WireType::bytes) fail_wire_type(field, name);
  if (field.payload.size() % sizeof(Bits) != 0) fail_packed(name);
  for (size_t at = 0; at < field.payload.size(); at += sizeof(Bits)) {
    Bits bits;
    __builtin_memcpy(&bits, field.payload.data() + at, sizeof(Bits));
    fn(bits);
  }
}

}  // namespace assay::onnx
