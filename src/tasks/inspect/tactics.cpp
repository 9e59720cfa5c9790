#include <algorithm>
#include <map>
#include <set>

#include "base/paths.h"
#include "base/text.h"
#include "formats/tactic_replay.h"
#include "tasks/inspect.h"

namespace assay::tasks {
namespace fs = std::filesystem;

namespace {

using Tactics = std::map<std::string, std::set<results::RecordedTactic>>;

std::vector<std::string> files_below(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return is_file(path) ? std::vector<std::string>{path} : std::vector<std::string>();
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

// `read` gets the files that are replays, `skipped` the others.
Tactics load_all(const std::string& path, std::vector<std::string>& read, std::vector<std::string>& skipped) {
  Tactics tactics;
  for (const std::string& file : files_below(path)) {
    const auto loaded = attempt([&] { return inspect_tactics(file); });
    if (std::holds_alternative<Error>(loaded)) {
      skipped.push_back(file);
      continue;
    }
    read.push_back(file);
    for (const auto& [layer, tactic] : std::get<0>(loaded)) tactics[layer].insert(tactic);
  }
  return tactics;
}

}  // namespace

results::RecordedTactics inspect_tactics(const std::string& path) {
  return with_frame(
      [&] { return fmt::format("loading `{}`", printable(path)); },
      [&] {
        const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
        const Bytes bytes = file->bytes();
        return formats::parse_recorded_tactics({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      });
}

results::TacticDiff diff_tactics(const TacticDiffRequest& request) {
  results::TacticDiff diff;
  const Tactics good = load_all(request.good, diff.good, diff.skipped);
  for (auto& [layer, tactics] : load_all(request.bad, diff.bad, diff.skipped)) {
    const auto known = good.find(layer);
    std::vector<results::RecordedTactic> suspects;
    for (const results::RecordedTactic& tactic : tactics) {
      if (known == good.end() || !known->second.contains(tactic)) suspects.push_back(tactic);
    }
    if (!suspects.empty()) diff.suspects.emplace_back(layer, std::move(suspects));
  }
  return diff;
}

}  // namespace assay::tasks
