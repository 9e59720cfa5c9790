// Arbitrary bytes read as a message by our reader and by protozero: the same fields with the same values, or both
// refuse. Left out is what protozero does not do by design: groups, and numbers of fields or lengths above 32 bits.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include <protozero/pbf_message.hpp>

#include "base/error.h"
#include "onnx/wire.h"

namespace {

using assay::onnx::Field;
using assay::onnx::FieldReader;
using assay::onnx::WireType;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_left_out(protozero::data_view rest) {
  try {
    const char* at = rest.data();
    const char* end = at + rest.size();
    const uint64_t tag = protozero::decode_varint(&at, end);
    const uint64_t number = tag >> 3;
    const bool is_reserved = number >= 19000 && number <= 19999;
    const bool is_group = (tag & 7) == 3;
    if (is_group || is_reserved || number >= (1u << 29)) return true;
    return (tag & 7) == 2 && protozero::decode_varint(&at, end) > 0xffffffff;
  } catch (const protozero::exception&) {
    return false;
  }
}

bool is_same(const Field& field, protozero::pbf_reader& reader) {
  if (field.number != reader.tag() || static_cast<int>(field.type) != static_cast<int>(reader.wire_type()))
    return false;
  switch (field.type) {
    case WireType::varint:
      return field.value == reader.get_uint64();
    case WireType::fixed64:
      return field.value == reader.get_fixed64();
    case WireType::fixed32:
      return field.value == reader.get_fixed32();
    default:
      break;
  }
  const protozero::data_view view = reader.get_view();
  return view.size() == field.payload.size() &&
         (view.empty() || view.data() == reinterpret_cast<const char*>(field.payload.data()));
}

// The next field of ours; nothing at the end or where it is refused.
std::optional<Field> next(FieldReader& reader, bool& is_refused) {
  Field field;
  try {
    if (reader.next(field)) return field;
  } catch (const assay::Error& error) {
    require(error.code() == assay::ErrorCode::parse && !error.line().empty());
    is_refused = true;
  }
  return std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const assay::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  FieldReader ours({bytes, bytes.data()});
  protozero::pbf_reader theirs(reinterpret_cast<const char*>(data), size);
  for (;;) {
    const protozero::data_view rest = theirs.data();
    bool is_refused = false;
    const std::optional<Field> field = next(ours, is_refused);
    if (is_left_out(rest)) return 0;
    try {
      const bool more = theirs.next();
      if (!more) require(!field && !is_refused);
      if (!more) return 0;
      if (field) require(is_same(*field, theirs));
      if (!field) theirs.skip();
    } catch (const protozero::exception&) {
      require(is_refused);
      return 0;
    }
    require(!is_refused);
  }
}
