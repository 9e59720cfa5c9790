#pragma once

#include <filesystem>

namespace assay::formats {

// A folder to fill: newly created, or existing and empty; Error (io, usage) otherwise. Without commit() its content is
// removed, and the folder too if it was created here, so that a second attempt starts like the first.
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
  int slot_ = -1;  // among the paths that a signal removes
};

}  // namespace assay::formats
