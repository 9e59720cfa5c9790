#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "onnx/text.h"
#include "tasks/sweep.h"

namespace assay::tasks {
namespace {

namespace fs = std::filesystem;

bool has_wildcard(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

bool is_model(const fs::path& path) {
  return is_file(path) && (to_lower(path.extension().string()) == ".onnx" || onnx::is_text_file(path));
}

std::vector<fs::path> children(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.empty() ? "." : folder, error))
    paths.push_back(folder / entry.path().filename());
  std::ranges::sort(paths);
  return paths;
}

using Parts = std::span<const std::string_view>;

// Paths below `base` that the parts of a pattern name; `**` stands for any number of folders.
void find_below(const fs::path& base, Parts parts, std::set<fs::path>& found) {
  if (parts.empty()) {
    if (is_file(base)) found.insert(base.lexically_normal());
    return;
  }
  if (!has_wildcard(parts[0])) return find_below(base / parts[0], parts.subspan(1), found);
  const bool is_any_depth = parts[0] == "**";
  if (is_any_depth) find_below(base, parts.subspan(1), found);
  for (const fs::path& child : children(base)) {
    const std::string name = child.filename().string();
    if (name.starts_with('.')) continue;
    if (is_any_depth && is_folder(child)) find_below(child, parts, found);
    if (!is_any_depth && matches_glob(parts[0], name)) find_below(child, parts.subspan(1), found);
  }
}

std::set<fs::path> files_of_pattern(const std::string& pattern) {
  std::set<fs::path> found;
  if (is_folder(pattern)) {
    constexpr std::array<std::string_view, 2> kAll = {"**", "*"};
    find_below(pattern, kAll, found);
    std::erase_if(found, [](const fs::path& path) { return !is_model(path); });
  } else if (has_wildcard(pattern)) {
    std::vector<std::string_view> parts = split(pattern, '/');
    const bool is_absolute = parts[0].empty();
    find_below(is_absolute ? "/" : "", Parts(parts).subspan(is_absolute ? 1 : 0), found);
  } else if (is_there(pattern)) {
    found.insert(pattern);
  }
  return found;
}

}  // namespace

std::vector<std::string> find_models(const std::vector<std::string>& patterns) {
  std::vector<std::string> models;
  std::set<fs::path> seen;
  for (const std::string& pattern : patterns) {
    const std::set<fs::path> found = files_of_pattern(pattern);
    if (found.empty()) fail(ErrorCode::io, "there are no models `{}`", printable(pattern));
    for (const fs::path& path : found) {
      if (seen.insert(path).second) models.push_back(path.string());
    }
  }
  return models;
}

}  // namespace assay::tasks
