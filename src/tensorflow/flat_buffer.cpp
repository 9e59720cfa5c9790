#include "tensorflow/flat_buffer.h"

#include "base/error.h"

namespace assay::tensorflow {

void FlatBuffer::require(uint64_t at, uint64_t size) const {
  if (at <= bytes_.size() && size <= bytes_.size() - at) return;
  fail(ErrorCode::parse, "the file is damaged: something is said to be at byte {}, and there are {} bytes", at,
       bytes_.size());
}

uint64_t FlatBuffer::field(uint64_t table, unsigned number) const {
  const int64_t names = static_cast<int64_t>(table) - this->number<int32_t>(table);
  if (names < 0) fail(ErrorCode::parse, "the file is damaged: a table of fields is before its begin");
  const auto at = static_cast<uint64_t>(names);
  const uint64_t place = 4 + uint64_t{number} * 2;
  if (place + 2 > this->number<uint16_t>(at)) return 0;
  const uint16_t offset = this->number<uint16_t>(at + place);
  return offset == 0 ? 0 : table + offset;
}

std::string_view FlatBuffer::text(uint64_t table, unsigned number) const {
  const FlatVector text = vector(table, number, 1);
  return {reinterpret_cast<const char*>(bytes_.data() + text.begin), text.count};
}

FlatVector FlatBuffer::vector(uint64_t table, unsigned number, uint64_t element_bytes) const {
  const uint64_t at = field(table, number);
  if (at == 0) return {};
  const uint64_t begin = follow(at);
  const FlatVector found = {.begin = begin + 4, .count = this->number<uint32_t>(begin)};
  require(found.begin, found.count * element_bytes);
  return found;
}

}  // namespace assay::tensorflow
