#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "formats/lazy_storage.h"
#include "formats/numpy/inflate.h"
#include "formats/numpy/zip.h"

namespace assay::formats {
namespace {

constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint32_t kEntrySignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr uint64_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr uint64_t kMostCommentBytes = 0xFFFF;
constexpr uint16_t kZip64Field = 1;
constexpr uint16_t kStored = 0, kDeflated = 8;
// A deflated byte cannot become more.
constexpr uint64_t kMostGrowth = 1032;

// Little-endian numbers at places that were checked to lie within the file.
class View {
 public:
  explicit View(Bytes bytes) : bytes_(bytes) {}
  template <typename T>
  T get(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  std::string_view text(uint64_t offset, uint64_t size) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + offset, size};
  }
  bool holds(uint64_t offset, uint64_t size) const { return offset <= bytes_.size() && size <= bytes_.size() - offset; }
  bool is_at(uint64_t offset, uint64_t size, uint32_t signature) const {
    return holds(offset, size) && get<uint32_t>(offset) == signature;
  }
  uint64_t size() const { return bytes_.size(); }

 private:
  Bytes bytes_;
};

struct Directory {
  uint64_t offset;
  uint64_t bytes;
  uint64_t count;
};

uint64_t find_end(const View& view) {
  if (view.size() < kEndBytes) fail(ErrorCode::parse, "zip: the file ends before its directory");
  const uint64_t last = view.size() - kEndBytes;
  const uint64_t first = last > kMostCommentBytes ? last - kMostCommentBytes : 0;
  for (uint64_t at = last + 1; at-- > first;) {
    if (view.get<uint32_t>(at) == kEndSignature && view.get<uint16_t>(at + 20) == last - at) return at;
  }
  fail(ErrorCode::parse, "zip: no directory at its end; it is cut short or no archive");
}

Directory find_directory(const View& view) {
  const uint64_t end = find_end(view);
  Directory directory = {view.get<uint32_t>(end + 16), view.get<uint32_t>(end + 12), view.get<uint16_t>(end + 10)};
  const bool has_locator =
      end >= kLocator64Bytes && view.is_at(end - kLocator64Bytes, kLocator64Bytes, kLocator64Signature);
  if (has_locator) {
    const auto end64 = view.get<uint64_t>(end - kLocator64Bytes + 8);
    if (!view.is_at(end64, kEnd64Bytes, kEnd64Signature))
      fail(ErrorCode::parse, "zip: its zip64 directory is not where it says");
    directory = {view.get<uint64_t>(end64 + 48), view.get<uint64_t>(end64 + 40), view.get<uint64_t>(end64 + 32)};
  }
  const bool fits = view.holds(directory.offset, directory.bytes) && directory.count <= directory.bytes / kEntryBytes;
  if (!fits) fail(ErrorCode::parse, "zip: its directory is outside of the file");
  return directory;
}

// The numbers that did not fit into 32 bits, in the order of the format.
void read_zip64(const View& view, uint64_t offset, uint64_t size, std::initializer_list<uint64_t*> numbers) {
  const uint64_t end = offset + size;
  while (end - offset >= 4) {
    const uint64_t length = view.get<uint16_t>(offset + 2);
    if (length > end - offset - 4) return;
    if (view.get<uint16_t>(offset) != kZip64Field) {
      offset += 4 + length;
      continue;
    }
    uint64_t at = offset + 4;
    for (uint64_t* number : numbers) {
      if (*number != 0xFFFFFFFF || at + 8 > offset + 4 + length) continue;
      *number = view.get<uint64_t>(at);
      at += 8;
    }
    return;
  }
}

void check_method(const ZipMember& member, uint16_t flags) {
  if ((flags & 1) != 0) fail(ErrorCode::unsupported, "zip: member `{}` is encrypted", printable(member.name));
  if (member.method == kStored && member.packed_bytes != member.bytes) {
    fail(ErrorCode::parse, "zip: member `{}` is stored in {} bytes, but has {}", printable(member.name),
         member.packed_bytes, member.bytes);
  }
  if (member.method == kStored || member.method == kDeflated) return;
  fail(ErrorCode::unsupported, "zip: member `{}` is compressed by method {}, expected stored or deflated",
       printable(member.name), member.method);
}

void place_data(const View& view, uint64_t header, ZipMember& member) {
  if (!view.is_at(header, kLocalBytes, kLocalSignature)) {
    fail(ErrorCode::parse, "zip: member `{}` is not where the directory says", printable(member.name));
  }
  const uint64_t names = uint64_t{view.get<uint16_t>(header + 26)} + view.get<uint16_t>(header + 28);
  member.data_offset = header + kLocalBytes + names;
  const bool fits =
      view.holds(member.data_offset, member.packed_bytes) && member.bytes / kMostGrowth <= member.packed_bytes;
  if (!fits) fail(ErrorCode::parse, "zip: member `{}` is larger than the file holds", printable(member.name));
}

// Reads the entry at `at` and moves behind it.
ZipMember read_entry(const View& view, uint64_t& at, uint64_t end) {
  const bool is_entry = end - at >= kEntryBytes && view.get<uint32_t>(at) == kEntrySignature;
  if (!is_entry) fail(ErrorCode::parse, "zip: its directory is damaged");
  const uint64_t name_bytes = view.get<uint16_t>(at + 28), extra_bytes = view.get<uint16_t>(at + 30);
  const uint64_t rest = name_bytes + extra_bytes + view.get<uint16_t>(at + 32);
  if (rest > end - at - kEntryBytes) fail(ErrorCode::parse, "zip: its directory is damaged");
  ZipMember member;
  member.name = view.text(at + kEntryBytes, name_bytes);
  member.method = view.get<uint16_t>(at + 10);
  member.crc = view.get<uint32_t>(at + 16);
  member.packed_bytes = view.get<uint32_t>(at + 20);
  member.bytes = view.get<uint32_t>(at + 24);
  uint64_t header = view.get<uint32_t>(at + 42);
  read_zip64(view, at + kEntryBytes + name_bytes, extra_bytes, {&member.bytes, &member.packed_bytes, &header});
  check_method(member, view.get<uint16_t>(at + 8));
  place_data(view, header, member);
  at += kEntryBytes + rest;
  return member;
}

}  // namespace

bool starts_as_zip(std::string_view start) {
  return start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06");
}

std::vector<ZipMember> read_zip_directory(const MappedFile& file) {
  const View view(file.bytes());
  const Directory directory = find_directory(view);
  std::vector<ZipMember> members;
  uint64_t at = directory.offset;
  uint64_t rest = file.size();  // members do not share bytes, or a small file could be huge
  for (uint64_t i = 0; i < directory.count; ++i) {
    members.push_back(read_entry(view, at, directory.offset + directory.bytes));
    if (members.back().packed_bytes > rest) fail(ErrorCode::parse, "zip: its members overlap");
    rest -= members.back().packed_bytes;
  }
  return members;
}

tensor::StoragePtr zip_storage(const std::shared_ptr<const MappedFile>& file, const ZipMember& member) {
  if (member.method == kStored) return tensor::make_mapped(file, member.data_offset, member.bytes);
  return make_lazy(member.bytes, [file, member](std::span<std::byte> out) {
    with_frame([&] { return fmt::format("member `{}`", printable(member.name)); },
               [&] { inflate_all(file->bytes().subspan(member.data_offset, member.packed_bytes), member.crc, out); });
  });
}

std::string zip_start(const MappedFile& file, const ZipMember& member, uint64_t count) {
  const Bytes packed = file.bytes().subspan(member.data_offset, member.packed_bytes);
  std::string start(std::min(count, member.bytes), '\0');
  const std::span<std::byte> out = std::as_writable_bytes(std::span(start));
  if (member.method == kStored)
    std::ranges::copy(packed.first(out.size()), out.begin());
  else
    inflate_start(packed, out);
  return start;
}

}  // namespace assay::formats
