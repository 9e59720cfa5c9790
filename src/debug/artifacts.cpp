#include "debug/artifacts.h"

#include <algorithm>
#include <array>
#include <ctime>

#include <unistd.h>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/text.h"

namespace assay::debug {
namespace {

namespace fs = std::filesystem;

// `11-21-26_07-19-17`
std::string time_of_start() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%m-%d-%y_%H-%M-%S", &local);
  return text.data();
}

// Makes a folder. Returns true if it was not there before.
bool make_folder(const fs::path& folder) {
  std::error_code error;
  const bool is_new = fs::create_directories(folder, error);
  if (error)
    fail(ErrorCode::io, "cannot make the folder `{}`: {}", printable(folder.string()), errno_text(error.value()));
  if (access(folder.c_str(), W_OK) != 0) {
    fail(ErrorCode::io, "cannot write to the folder `{}`: {}", printable(folder.string()), errno_text(errno));
  }
  return is_new;
}

}  // namespace

ArtifactSorter::ArtifactSorter(std::vector<std::string> artifacts, fs::path folder)
    : artifacts_(std::move(artifacts)), folder_(std::move(folder)), time_(time_of_start()) {
  if (!artifacts_.empty()) has_made_folder_ = make_folder(folder_);
}

ArtifactSorter::~ArtifactSorter() {
  std::error_code ignored;
  if (has_made_folder_) fs::remove(folder_, ignored);  // unless something is in it
}

std::vector<std::string> ArtifactSorter::sort(bool passed, const std::string& suffix) const {
  std::vector<std::string> faults;
  for (const std::string& word : artifacts_) {
    fs::path artifact = word;
    if (!artifact.has_filename()) artifact = artifact.parent_path();  // `folder/`
    const fs::path name = artifact.stem().string() + "_" + time_ + suffix + artifact.extension().string();
    const std::string fault = move(artifact, folder_ / (passed ? "good" : "bad") / name);
    if (!fault.empty()) faults.push_back(fault);
  }
  return faults;
}

std::string ArtifactSorter::move(const fs::path& artifact, const fs::path& to) const {
  const std::string shown = printable(artifact.string());
  std::error_code error;
  if (!fs::exists(artifact, error)) return fmt::format("Artifact: {} does not exist, skipping", shown);
  if (fs::exists(to, error)) {
    return fmt::format("Artifact: {} is not moved: `{}` is there already", shown, printable(to.string()));
  }
  fs::create_directories(to.parent_path(), error);
  fs::rename(artifact, to, error);
  if (error == std::errc::cross_device_link) {
    fs::copy(artifact, to, fs::copy_options::recursive, error);
    if (!error) fs::remove_all(artifact, error);
  }
  if (!error) return {};
  return fmt::format("Artifact: {} cannot be moved to `{}`: {}", shown, printable(to.string()),
                     errno_text(error.value()));
}

}  // namespace assay::debug
