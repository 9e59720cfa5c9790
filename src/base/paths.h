#pragma once

#include <cstdlib>
#include <filesystem>

namespace assay {

// Returns false for a path that may not be looked at; none of these functions throws.
inline bool is_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}
inline bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}
inline bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The path as it is where there is no current folder any more.
inline std::filesystem::path absolute_path(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path full = std::filesystem::absolute(path, error);
  return error ? path : full;
}

// The user's folder for files of one kind: that of an XDG variable, or `usual` in the home folder. Empty: there is
// none.
inline std::filesystem::path user_folder(const char* variable, const char* usual) {
  const char* const set = std::getenv(variable);
  if (set != nullptr && *set != '\0') return set;
  const char* const home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? std::filesystem::path() : std::filesystem::path(home) / usual;
}

}  // namespace assay
