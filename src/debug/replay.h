#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace assay::debug {

// Judged iterations, which need not be judged again: the peer's debug replay with a word more, which names the subject
// by its content.
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

// Writes a replay while iterations are judged. What is in the files stays: each iteration costs the same.
class ReplayWriter {
 public:
  // Empty: nothing is written.
  explicit ReplayWriter(const std::filesystem::path& path);

  void add(const std::string& key, const JudgedIteration& judged);
  // Writes `<stem>_skip_current<extension>`: the replay in which the iteration that is being judged has failed.
  void note_current(const std::string& key, JudgedIteration judged);

 private:
  struct File {
    std::filesystem::path path;
    uint64_t kept = 0;  // bytes of the text that are in it
    uint64_t size = 0;  // with what ends it
  };
  void write(File& file, std::string_view current);

  std::string text_;  // of all that are judged, without the brace that ends it
  File judged_;
  File with_current_;
};

}  // namespace assay::debug
