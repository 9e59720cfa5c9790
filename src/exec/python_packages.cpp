#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "base/text.h"
#include "base/trim.h"
#include "exec/library_search.h"

// Finds the packages of a Python interpreter without running it.
namespace assay::exec {
namespace fs = std::filesystem;

namespace {

constexpr size_t kMostLines = 64;  // of the small text files that are looked into

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> first_lines(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; lines.size() < kMostLines && std::getline(file, line);) lines.push_back(line.substr(0, 4096));
  return lines;
}

// The value of `key = value` in a pyvenv.cfg.
std::string setting(const fs::path& config, std::string_view key) {
  for (const std::string& line : first_lines(config)) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos && to_lower(trimmed(std::string_view(line).substr(0, equals))) == key) {
      return std::string(trimmed(std::string_view(line).substr(equals + 1)));
    }
  }
  return {};
}

void add_folders(const fs::path& root, std::string_view name, std::vector<fs::path>& folders) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(root / "lib", error), end; !error && entry != end; entry.increment(error)) {
    const fs::path packages = entry->path() / name;
    if (matches_glob("python3*", entry->path().filename().string()) && is_there(packages)) found.push_back(packages);
  }
  std::ranges::sort(found);
  folders.insert(folders.end(), found.begin(), found.end());
}

// The package folders below the prefix of an interpreter, with Debian's own names.
std::vector<fs::path> folders_of_prefix(const fs::path& prefix) {
  std::vector<fs::path> folders;
  add_folders(prefix, "site-packages", folders);
  if (prefix == "/usr") {
    add_folders("/usr/local", "site-packages", folders);
    add_folders("/usr/local", "dist-packages", folders);
    add_folders("/usr", "dist-packages", folders);
  }
  return folders;
}

std::vector<fs::path> folders_of_virtual(const fs::path& root) {
  std::vector<fs::path> folders = folders_of_prefix(root);
  if (to_lower(setting(root / "pyvenv.cfg", "include-system-site-packages")) != "true") return folders;
  const fs::path home = setting(root / "pyvenv.cfg", "home");
  for (fs::path& folder : folders_of_prefix(home.parent_path())) folders.push_back(std::move(folder));
  return folders;
}

// The first file of this name on PATH behind the folder `after`.
fs::path on_path(const std::string& name, const fs::path& after = {}) {
  const std::string path = environment("PATH");
  bool may_take = after.empty();
  for (const std::string_view folder : split(path, ':')) {
    const fs::path file = fs::path(folder) / name;
    if (may_take && !folder.empty() && is_there(file)) return file;
    may_take = may_take || fs::path(folder) == after;
  }
  return {};
}

std::optional<std::string> first_word(const fs::path& file) {
  for (const std::string& line : first_lines(file)) {
    const std::string text(trimmed(line));
    if (!text.empty() && text[0] != '#') return text.substr(0, text.find_first_of(" \t:"));
  }
  return std::nullopt;
}

// The version that pyenv would choose: of the shell, of the folder or one above it, of the user.
std::string pyenv_version(const fs::path& root) {
  const std::string shell = environment("PYENV_VERSION");
  if (!shell.empty()) return shell.substr(0, shell.find(':'));
  std::error_code error;
  for (fs::path folder = fs::current_path(error); !error; folder = folder.parent_path()) {
    if (const std::optional<std::string> version = first_word(folder / ".python-version")) return *version;
    if (folder == folder.parent_path()) break;
  }
  return first_word(root / "version").value_or("system");
}

fs::path behind_shim(const fs::path& shim) {
  const std::string root_variable = environment("PYENV_ROOT");
  const fs::path root = root_variable.empty() ? shim.parent_path().parent_path() : fs::path(root_variable);
  const std::string version = pyenv_version(root);
  if (version == "system") return on_path(shim.filename().string(), shim.parent_path());
  const fs::path exact = root / "versions" / version;
  if (is_there(exact)) return exact / "bin/python3";
  std::vector<fs::path> candidates;  // `3.11` stands for the newest 3.11.x
  std::error_code error;
  for (fs::directory_iterator entry(root / "versions", error), end; !error && entry != end; entry.increment(error)) {
    if (matches_glob(version + ".*", entry->path().filename().string())) candidates.push_back(entry->path());
  }
  return candidates.empty() ? fs::path() : *std::ranges::max_element(candidates) / "bin/python3";
}

bool is_shim(const fs::path& python) {
  return python.parent_path().filename() == "shims" && is_there(python.parent_path().parent_path() / "versions");
}

}  // namespace

fs::path find_interpreter(const std::string& python) {
  std::error_code error;
  const bool is_folder = fs::is_directory(python, error);
  fs::path file = python.find('/') == std::string::npos ? on_path(python) : fs::path(python);
  if (is_folder) file = fs::path(python) / "bin/python3";
  const fs::path real = is_shim(file) ? behind_shim(file) : file;
  return is_there(real) ? real : fs::path();
}

std::vector<fs::path> package_folders(const std::string& python) {
  const fs::path file = find_interpreter(python);
  if (file.empty()) return {};
  for (const fs::path& root : {file.parent_path().parent_path(), file.parent_path()}) {
    if (is_there(root / "pyvenv.cfg")) return folders_of_virtual(root);
  }
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  return error ? std::vector<fs::path>() : folders_of_prefix(real.parent_path().parent_path());
}

}  // namespace assay::exec
