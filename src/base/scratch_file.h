#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/files.h"

namespace assay {

// A file without a name, for bytes that are to take no memory until they are read. Its room is given back with the last
// that has it mapped.
class ScratchFile {
 public:
  struct Range {
    std::shared_ptr<const MappedFile> file;
    uint64_t offset = 0;
  };

  // Nothing is made before the first bytes come. `folder`: on the disk that has room.
  explicit ScratchFile(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  // Adds bytes, at the beginning of a page; nullopt: the folder takes no file, or its disk no more bytes.
  std::optional<Range> append(Bytes bytes);

 private:
  // Begins a file, larger than the one before, that holds so many bytes.
  bool begin(uint64_t size);

  std::filesystem::path folder_;
  int fd_ = -1;
  std::shared_ptr<const MappedFile> file_;
  uint64_t end_ = 0;  // of what is written
};

}  // namespace assay
