#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "tensor/storage.h"

namespace assay::formats {

// Zip archives, as far as .npz uses them: stored and deflated members, zip64.

struct ZipMember {
  std::string name;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t packed_bytes = 0;  // in the file
  uint64_t bytes = 0;         // size of the member
  uint64_t data_offset = 0;
};

bool starts_as_zip(std::string_view start);
// The members in the order of the archive's directory. Error (parse) for damage, (unsupported) for encryption and
// other compression methods.
std::vector<ZipMember> read_zip_directory(const MappedFile& file);
// The content: mapped if stored, otherwise inflated and checked on first use.
tensor::StoragePtr zip_storage(const std::shared_ptr<const MappedFile>& file, const ZipMember& member);
// The first `count` bytes of the content, or all.
std::string zip_start(const MappedFile& file, const ZipMember& member, uint64_t count);

// Writes an archive of stored members; without dates, so that equal content gives equal files.
class ZipWriter {
 public:
  explicit ZipWriter(OutputFile& out) : out_(out) {}
  // A member that consists of two pieces.
  void add(const std::string& name, Bytes first, Bytes second);
  // Writes the directory; nothing may follow.
  void finish();

 private:
  struct Entry {
    std::string name;
    uint32_t crc;
    uint64_t bytes;
    uint64_t header_offset;
  };
  OutputFile& out_;
  std::vector<Entry> entries_;
};

}  // namespace assay::formats
