#include "runners/known_failures.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace assay::cases {
namespace {

std::string key(const std::filesystem::path& case_file) {
  return (case_file.parent_path().filename() / case_file.filename()).string();
}

}  // namespace

KnownFailures::KnownFailures(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->size());
  Kind kind = Kind::none;
  size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty() || line.starts_with("#")) continue;
    const bool is_sometimes = line.starts_with("sometimes because ");
    if (is_sometimes || line.starts_with("because ")) {
      kind = is_sometimes ? Kind::sometimes : Kind::always;
      continue;
    }
    if (kind == Kind::none || !line.starts_with("  ")) {
      fail(ErrorCode::parse, "{}:{}: expected `because REASON` or, indented, a file and its runs", path.string(),
           number);
    }
    const std::vector<std::string_view> words = split(line.substr(2), ' ');
    std::map<std::string, Kind>& runs = runs_[std::string(words[0])];
    for (size_t i = 1; i < words.size(); ++i) runs.emplace(words[i], kind);
  }
}

KnownFailures::Kind KnownFailures::find(const std::filesystem::path& case_file, const std::string& run) {
  const std::string file = key(case_file);
  seen_[file].insert(run);
  const auto runs = runs_.find(file);
  if (runs == runs_.end()) return Kind::none;
  const auto found = runs->second.find(run);
  return found == runs->second.end() ? Kind::none : found->second;
}

std::vector<std::string> KnownFailures::missing() const {
  std::vector<std::string> missing;
  for (const auto& [file, seen] : seen_) {
    const auto found = runs_.find(file);
    if (found == runs_.end()) continue;
    for (const auto& [run, kind] : found->second) {
      if (!seen.contains(run)) missing.push_back(fmt::format("{} {}", file, run));
    }
  }
  return missing;
}

}  // namespace assay::cases
