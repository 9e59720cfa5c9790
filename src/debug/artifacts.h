#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay::debug {

// Moves files and folders that iterations leave into `good` and `bad` below a folder.
class ArtifactSorter {
 public:
  // Error (io) if there are artifacts to sort and the folder cannot be written.
  ArtifactSorter(std::vector<std::string> artifacts, std::filesystem::path folder);
  // A folder that was made for nothing goes.
  ~ArtifactSorter();
  ArtifactSorter(const ArtifactSorter&) = delete;
  ArtifactSorter& operator=(const ArtifactSorter&) = delete;

  // Each becomes `<good|bad>/<stem>_<date>_<time><suffix><extension>`. Returns a line for each that is not there, is in
  // the way, or cannot be moved.
  std::vector<std::string> sort(bool passed, const std::string& suffix) const;
  bool is_empty() const { return artifacts_.empty(); }

 private:
  std::string move(const std::filesystem::path& artifact, const std::filesystem::path& to) const;

  std::vector<std::string> artifacts_;
  std::filesystem::path folder_;
  std::string time_;
  bool has_made_folder_ = false;
};

}  // namespace assay::debug
