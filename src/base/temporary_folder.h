#pragma once

#include <filesystem>
#include <string_view>

namespace assay {

// Makes a folder among the temporary ones that only this user can enter, called after `stem`. Error (io).
std::filesystem::path make_temporary_folder(std::string_view stem);

// A folder among the temporary ones that only this user can enter, gone with its owner. Error (io): it cannot be made.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int slot_ = -1;  // among what a signal removes
};

}  // namespace assay
