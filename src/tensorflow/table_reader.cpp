#include "tensorflow/table_reader.h"

#include <optional>

#include "base/error.h"
#include "onnx/wire.h"

namespace assay::tensorflow {
namespace {

constexpr size_t kFooter = 48;
constexpr size_t kTrailer = 5;  // the kind of compression, and a checksum
constexpr uint64_t kMagic = 0xdb4775248b80fb57;
constexpr uint64_t kMostBytes = uint64_t{1} << 28;  // of all keys: each repeats a part of the one before

[[noreturn]] void fail_index() { fail(ErrorCode::parse, "the index of the variables is damaged"); }

uint64_t take(Bytes& bytes) {
  const std::optional<uint64_t> number = onnx::take_varint(bytes);
  if (!number) fail_index();
  return *number;
}

uint32_t fixed32(Bytes bytes, size_t at) {
  uint32_t value = 0;
  if (at + sizeof(value) > bytes.size()) fail_index();
  __builtin_memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// A sorted table in the format of LevelDB: entries whose keys share the begin of the one before.
class TableReader {
 public:
  explicit TableReader(Bytes file) : file_(file) {}

  template <typename Fn>
  void for_each(Fn&& fn) {
    if (file_.size() < kFooter) fail_index();
    Bytes footer = file_.subspan(file_.size() - kFooter);
    const uint64_t magic = uint64_t{fixed32(footer, kFooter - 4)} << 32 | fixed32(footer, kFooter - 8);
    if (magic != kMagic) fail_index();
    take(footer);  // of another index: its place and size
    take(footer);
    for_each_entry(block(footer), [&](const std::string&, Bytes handle) { for_each_entry(block(handle), fn); });
  }

 private:
  Bytes block(Bytes handle) const {
    const uint64_t offset = take(handle);
    const uint64_t size = take(handle);
    if (offset > file_.size() || size > file_.size() - offset || kTrailer > file_.size() - offset - size) fail_index();
    if (file_[offset + size] != std::byte{0}) {
      fail(ErrorCode::unsupported, "the index of the variables is compressed, which is not read here");
    }
    return file_.subspan(offset, size);
  }

  template <typename Fn>
  void for_each_entry(Bytes block, Fn&& fn) {
    const uint64_t restarts = fixed32(block, block.size() < 4 ? 0 : block.size() - 4);
    if (restarts > (block.size() - 4) / 4) fail_index();
    Bytes rest = block.first(block.size() - 4 - restarts * 4);
    std::string key;
    while (!rest.empty()) {
      const uint64_t shared = take(rest);
      const uint64_t added = take(rest);
      const uint64_t size = take(rest);
      if (shared > key.size() || added > rest.size() || size > rest.size() - added) fail_index();
      key.resize(shared);
      key.append(reinterpret_cast<const char*>(rest.data()), added);
      read_bytes_ += key.size() + size + 1;
      if (read_bytes_ > kMostBytes) fail(ErrorCode::limit, "the index of the variables is too large");
      fn(key, rest.subspan(added, size));
      rest = rest.subspan(added + size);
    }
  }

  Bytes file_;
  uint64_t read_bytes_ = 0;
};

}  // namespace

void read_table(Bytes file, FunctionRef<void(const std::string& key, Bytes value)> entry) {
  TableReader(file).for_each(entry);
}

}  // namespace assay::tensorflow
