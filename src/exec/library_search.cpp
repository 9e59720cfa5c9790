#include "exec/library_search.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <dirent.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::exec {
namespace fs = std::filesystem;

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<fs::path> system_folders() {
#if defined(__aarch64__)
  constexpr std::string_view kArchitecture = "aarch64-linux-gnu";
#else
  constexpr std::string_view kArchitecture = "x86_64-linux-gnu";
#endif
  std::vector<fs::path> folders;
  const std::string preferred = variable("LD_LIBRARY_PATH");
  for (const std::string_view folder : split(preferred, ':')) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  for (const std::string_view base : {"/usr/local/lib", "/usr/lib"}) {
    folders.push_back(fs::path(base) / kArchitecture);
    folders.emplace_back(base);
  }
  folders.emplace_back("/usr/lib64");
  return folders;
}

class Search {
 public:
  Search(const LibraryKind& kind, FolderNames& names) : kind_(kind), names_(names) {}

  FoundLibrary run(const LibrarySearch& search) {
    const std::string wish = variable(std::string(kind_.variable).c_str());
    if (!wish.empty()) {
      look_at_wish(wish);
      return std::move(found_);
    }
    if (!search.python.empty()) look_in_python("the given Python", search.python);
    if (const std::string folder = variable("VIRTUAL_ENV"); !folder.empty()) look_in_python("VIRTUAL_ENV", folder);
    look_in_python("PATH", "python3");
    for (const fs::path& python : matching(fs::path(variable("HOME")) / ".local/lib", "python3*")) {
      look_in_packages("user", python / "site-packages");
    }
    for (const fs::path& folder : system_folders()) look_in_system(folder);
    return std::move(found_);
  }

 private:
  bool is_done() const { return !found_.path.empty(); }

  void note(std::string_view where, const fs::path& place, std::string_view what) {
    found_.tried.push_back(fmt::format("{}: {}: {}", where, printable(place.string()), what));
  }

  void take(std::string_view where, const fs::path& file, std::string version) {
    note(where, file, "found");
    std::error_code error;
    found_.path = fs::absolute(file, error);  // a bare name would mean another file to the loader
    found_.version = std::move(version);
  }

  void look_at_wish(const fs::path& wish) {
    if (is_file(wish)) return take(kind_.variable, wish, "");
    if (!is_folder(wish)) return note(kind_.variable, wish, "there is no such file or folder");
    look_in_packages(kind_.variable, wish);
    for (const std::string_view name : kind_.system_names) {
      const fs::path file = is_done() ? fs::path() : library_in(wish, name);
      if (!file.empty()) take(kind_.variable, file, "");
    }
  }

  void look_in_python(std::string_view where, const std::string& python) {
    if (is_done()) return;
    const std::vector<fs::path>& folders = names_.packages_of(python);
    if (folders.empty()) note(where, python, "there is no Python");
    for (const fs::path& folder : folders) look_in_packages(where, folder);
  }

  void look_in_packages(std::string_view where, const fs::path& packages) {
    if (is_done()) return;
    bool is_installed = false;
    for (const std::string_view pattern : kind_.wheel_files) {
      const fs::path relative(pattern);
      const fs::path folder = packages / relative.parent_path();
      is_installed = is_installed || is_folder(folder);
      const fs::path file = library_in(folder, relative.filename().string());
      if (!file.empty()) return take(where, file, version_in(packages));
    }
    note(where, packages, is_installed ? "the package is there, but not its C library" : "not installed");
  }

  void look_in_system(const fs::path& folder) {
    for (const std::string_view name : kind_.system_names) {
      const fs::path file = is_done() ? fs::path() : library_in(folder, name);
      if (!file.empty()) return take("system", file, "");
    }
    if (!is_done()) note("system", folder, "not there");
  }

  std::vector<fs::path> matching(const fs::path& folder, std::string_view pattern) {
    std::vector<fs::path> found;
    for (const std::string& name : names_.in(folder)) {
      if (matches_glob(pattern, name)) found.push_back(folder / name);
    }
    std::ranges::sort(found);
    return found;
  }

  fs::path library_in(const fs::path& folder, std::string_view pattern) {
    const std::vector<fs::path> files = matching(folder, pattern);
    const auto file = std::ranges::find_if(files, is_file);
    return file == files.end() ? fs::path() : *file;
  }

  std::string version_in(const fs::path& packages) {
    const std::vector<fs::path> infos = matching(packages, fmt::format("{}-*.dist-info", kind_.distribution));
    if (infos.empty()) return {};
    const std::string name = infos.front().stem().string();
    return name.substr(name.rfind('-') + 1);
  }

  const LibraryKind& kind_;
  FolderNames& names_;
  FoundLibrary found_;
};

}  // namespace

// The system's folders have thousands of entries, of which a directory_iterator would make a path each.
const std::vector<std::string>& FolderNames::in(const fs::path& folder) {
  const auto [place, is_new] = names_.try_emplace(folder.native());
  std::vector<std::string>& names = place->second;
  if (!is_new) return names;
  const std::unique_ptr<DIR, decltype([](DIR* open) { closedir(open); })> open(opendir(folder.c_str()));
  if (!open) return names;
  while (const dirent* const entry = readdir(open.get())) {  // NOLINT(concurrency-mt-unsafe): a stream of its own
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

const std::vector<fs::path>& FolderNames::packages_of(const std::string& python) {
  const auto [place, is_new] = packages_.try_emplace(python);
  if (is_new) place->second = package_folders(python);
  return place->second;
}

FoundLibrary find_library(const LibraryKind& kind, const LibrarySearch& search) {
  FolderNames own;
  return Search(kind, search.folders ? *search.folders : own).run(search);
}

}  // namespace assay::exec
