#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exec/backend.h"

namespace assay::exec {

// A library that is opened at run time, and where it may be.
struct LibraryKind {
  std::string_view variable;                   // of the environment: a file, or a folder that contains the library
  std::vector<std::string_view> wheel_files;   // below site-packages; the last part may be a wildcard
  std::string_view distribution;               // name of the wheel as its metadata writes it, or a wildcard
  std::vector<std::string_view> system_names;  // file names in the system's folders, wildcards too
  std::string_view loader_name;                // for the system's loader, if the search finds nothing
  std::string_view title;                      // `ONNX Runtime`
  std::string_view hint;                       // advice for getting the library
};

// Contents of folders, each read once: for searches that follow one another.
class FolderNames {
 public:
  // The names in a folder, in no order; none if it cannot be read.
  const std::vector<std::string>& in(const std::filesystem::path& folder);
  // package_folders() of this interpreter.
  const std::vector<std::filesystem::path>& packages_of(const std::string& python);

 private:
  std::map<std::string, std::vector<std::string>> names_;
  std::map<std::string, std::vector<std::filesystem::path>> packages_;
};

// Looks for the library, in this order: the variable (if it is set, nowhere else), the environment of `search.python`,
// $VIRTUAL_ENV, the first python3 on PATH, the user's site folder, the folders of the system's loader. Runs and opens
// nothing.
FoundLibrary find_library(const LibraryKind& kind, const LibrarySearch& search);

// The file of an interpreter: given as such, by its name on PATH, or as the folder of its virtual environment. Follows
// the shims of pyenv; empty if there is none.
std::filesystem::path find_interpreter(const std::string& python);

// The folders with packages that belong to that interpreter. Follows links and pyvenv.cfg.
std::vector<std::filesystem::path> package_folders(const std::string& python);

}  // namespace assay::exec
