#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace assay::debug {

// What was judged, so that it need not be judged again: the peer's debug replay with a word more, which tells what was
// judged by its content.
struct JudgedIteration {
  uint64_t index = 0;
  bool passed = false;
  std::optional<uint64_t> node_count;
  std::string subject;  // of the model or command that was judged; empty: a file of the peer
};

// By key: `_N3`, `_N3_outputs`.
using Replay = std::map<std::string, JudgedIteration>;

// Error (io, parse) with the path as frame.
Replay load_replay(const std::filesystem::path& path);
void save_replay(const Replay& replay, const std::filesystem::path& path);
// `<stem>_skip_current<extension>`: the replay in which the iteration that is being judged has failed.
std::filesystem::path skip_path(const std::filesystem::path& path);

}  // namespace assay::debug
