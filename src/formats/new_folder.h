#pragma once

#include <filesystem>

namespace assay::formats {

// A folder that is about to be filled: made, or there and empty; Error (io, usage) otherwise. Without commit() what was
// put into it goes again, and the folder too if it was made here, so that a second attempt finds what the first one
// did.
class NewFolder {
 public:
  explicit NewFolder(const std::filesystem::path& path);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  void commit();

 private:
  std::filesystem::path path_;
  bool is_made_;
  bool is_complete_ = false;
  int slot_ = -1;  // among what a signal removes
};

}  // namespace assay::formats
