#include <algorithm>
#include <concepts>

#include "base/text.h"
#include "formats/numpy/inflate.h"
#include "formats/numpy/zip.h"

namespace assay::formats {
namespace {

constexpr uint32_t kIn64 = 0xFFFFFFFF;  // the number stands in a zip64 field
constexpr uint16_t kVersion = 20, kVersion64 = 45;
constexpr uint16_t kUtf8Flag = 0x800;
constexpr uint16_t kFirstDay = 0x21;  // 1980-01-01

// Little-endian numbers in a row.
class Record {
 public:
  template <std::unsigned_integral T>
  Record& put(T number) {
    for (size_t i = 0; i < sizeof(T); ++i) text_ += static_cast<char>(static_cast<uint64_t>(number) >> (8 * i) & 0xFF);
    return *this;
  }
  Record& put(std::string_view text) {
    text_ += text;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

bool is_large(uint64_t number) { return number >= kIn64; }
uint32_t in_32_bits(uint64_t number) { return is_large(number) ? kIn64 : static_cast<uint32_t>(number); }

uint16_t name_flags(std::string_view name) {
  const bool is_ascii = std::ranges::all_of(name, [](char c) { return static_cast<signed char>(c) >= 0; });
  return is_ascii ? 0 : kUtf8Flag;
}

// A zip64 field that holds those of the numbers that need it.
std::string zip64_field(std::initializer_list<uint64_t> numbers) {
  Record values;
  for (const uint64_t number : numbers) {
    if (is_large(number)) values.put(number);
  }
  if (values.text().empty()) return {};
  return Record().put(uint16_t{1}).put(static_cast<uint16_t>(values.text().size())).put(values.text()).text();
}

}  // namespace

void ZipWriter::add(const std::string& name, Bytes first, Bytes second) {
  const Entry entry = {name, crc32_of(second, crc32_of(first)), first.size() + second.size(), out_.position()};
  const std::string extra = zip64_field({entry.bytes, entry.bytes});
  Record header;
  header.put(uint32_t{0x04034b50}).put(extra.empty() ? kVersion : kVersion64).put(name_flags(name)).put(uint16_t{0});
  header.put(uint16_t{0}).put(kFirstDay).put(entry.crc).put(in_32_bits(entry.bytes)).put(in_32_bits(entry.bytes));
  header.put(static_cast<uint16_t>(name.size())).put(static_cast<uint16_t>(extra.size())).put(name).put(extra);
  out_.write(header.text());
  out_.write(first);
  out_.write(second);
  entries_.push_back(entry);
}

void ZipWriter::finish() {
  const uint64_t begin = out_.position();
  for (const Entry& entry : entries_) {
    const std::string extra = zip64_field({entry.bytes, entry.bytes, entry.header_offset});
    const uint16_t version = extra.empty() ? kVersion : kVersion64;
    Record record;
    record.put(uint32_t{0x02014b50}).put(version).put(version).put(name_flags(entry.name)).put(uint16_t{0});
    record.put(uint16_t{0}).put(kFirstDay).put(entry.crc).put(in_32_bits(entry.bytes)).put(in_32_bits(entry.bytes));
    record.put(static_cast<uint16_t>(entry.name.size())).put(static_cast<uint16_t>(extra.size()));
    record.put(uint16_t{0}).put(uint16_t{0}).put(uint16_t{0}).put(uint32_t{0});
    record.put(in_32_bits(entry.header_offset)).put(entry.name).put(extra);
    out_.write(record.text());
  }
  const uint64_t end = out_.position();
  const uint64_t count = entries_.size();
  const bool needs_64 = count >= 0xFFFF || is_large(begin) || is_large(end - begin);
  Record record;
  if (needs_64) {
    record.put(uint32_t{0x06064b50})
        .put(uint64_t{44})
        .put(kVersion64)
        .put(kVersion64)
        .put(uint32_t{0})
        .put(uint32_t{0});
    record.put(count).put(count).put(end - begin).put(begin);
    record.put(uint32_t{0x07064b50}).put(uint32_t{0}).put(end).put(uint32_t{1});
  }
  const auto short_count = static_cast<uint16_t>(std::min<uint64_t>(count, 0xFFFF));
  record.put(uint32_t{0x06054b50}).put(uint16_t{0}).put(uint16_t{0}).put(short_count).put(short_count);
  record.put(in_32_bits(end - begin)).put(in_32_bits(begin)).put(uint16_t{0});
  out_.write(record.text());
}

}  // namespace assay::formats
