#include "runners/known_failures.h"

#include <array>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace assay::cases {
namespace fs = std::filesystem;

namespace {

using Kind = KnownFailures::Kind;

std::string key(const fs::path& case_file) {
  return (case_file.parent_path().filename() / case_file.filename()).string();
}

// Nothing if the line is no head of a paragraph.
Kind kind_of(std::string_view line) {
  if (line.starts_with("because ")) return Kind::always;
  if (line.starts_with("sometimes because ")) return Kind::sometimes;
  return line.starts_with("not run because ") ? Kind::not_run : Kind::none;
}

// The files GROUP/FILE.case in the folder that fit a pattern; wildcards are for the file only.
std::set<std::string> files_that_fit(const fs::path& folder, const std::string& pattern) {
  std::set<std::string> files;
  const fs::path group = folder / fs::path(pattern).parent_path();
  if (group == folder || !fs::is_directory(group)) return files;
  for (const fs::directory_entry& entry : fs::directory_iterator(group)) {
    if (matches_glob(pattern, key(entry.path()))) files.insert(key(entry.path()));
  }
  return files;
}

}  // namespace

KnownFailures::KnownFailures(const fs::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->size());
  Kind kind = Kind::none;
  size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty() || line.starts_with("#")) continue;
    const std::string place = fmt::format("{}:{}", path.string(), number);
    if (line.starts_with("  ") && kind != Kind::none) {
      with_frame([&] { return place; }, [&] { add(kind, path.parent_path(), split(line.substr(2), ' ')); });
    } else if (kind = kind_of(line); kind == Kind::none) {
      fail(ErrorCode::parse, "{}: expected `because REASON` or, indented, a file and its runs", place);
    }
  }
}

void KnownFailures::add(Kind kind, const fs::path& folder, const std::vector<std::string_view>& words) {
  const std::string files(words[0]);
  const std::set<std::string> found = files_that_fit(folder, files);
  if (found.empty()) fail(ErrorCode::parse, "`{}` fits no file of cases", printable(files));
  for (size_t i = 1; i < words.size(); ++i) entries_.push_back({kind, files, std::string(words[i]), found});
}

Kind KnownFailures::find(const fs::path& case_file, const std::string& run) {
  const std::string file = key(case_file);
  Kind kind = Kind::none;
  for (Entry& entry : entries_) {
    if (!matches_glob(entry.files, file)) continue;
    entry.unseen_files.erase(file);
    if (kind != Kind::none || !matches_glob(entry.runs, run)) continue;
    kind = entry.kind;
    entry.is_used = true;
  }
  return kind;
}

std::vector<std::string> KnownFailures::stale() const {
  std::vector<std::string> stale;
  for (const Entry& entry : entries_) {
    if (!entry.is_used && entry.unseen_files.empty()) stale.push_back(fmt::format("{} {}", entry.files, entry.runs));
  }
  return stale;
}

}  // namespace assay::cases
