#pragma once

#include <filesystem>

namespace assay::debug {

// A file that one process at a time may write, also while it is not there: `.<name>.lock` beside it, which goes with
// this object.
class FileClaim {
 public:
  // Error (usage) if another process has it, (io) if the folder cannot be written.
  explicit FileClaim(const std::filesystem::path& file);
  ~FileClaim();
  FileClaim(const FileClaim&) = delete;
  FileClaim& operator=(const FileClaim&) = delete;

 private:
  std::filesystem::path lock_;
  int descriptor_ = -1;
  int slot_ = -1;
};

}  // namespace assay::debug
