#pragma once

#include <filesystem>
#include <memory>

#include "tensor/storage.h"

namespace assay::tensor {

// A file without a name, which is gone with the last storage in it.
class ScratchFile {
 public:
  // In that folder; null where there can be none.
  static std::unique_ptr<ScratchFile> make(const std::filesystem::path& folder);

  // The bytes as they lie in the file from then on, where they take memory only once they are read, until they are
  // released; null where the file has no room for them.
  StoragePtr append(Bytes bytes);

  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

 private:
  explicit ScratchFile(int fd) : fd_(fd) {}
  int fd_;
  uint64_t size_ = 0;
};

}  // namespace assay::tensor
